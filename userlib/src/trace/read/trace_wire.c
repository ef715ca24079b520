// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_wire.c: the table of events.
 */
#include "trace_wire.h"

#define STRUCTURE(text)		{ .name = text }
#define COUNT(...)		(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *))
#define TIMED(text, ...)	\
	{ .name = text, .args = { __VA_ARGS__ }, .timed = 1 + COUNT(__VA_ARGS__) }
#define ALLOC_FREE(text, ...)	\
	{ .name = text, .args = { __VA_ARGS__ }, .timed = 1 + COUNT(__VA_ARGS__), .experiment = 1 }

const struct gprof_trace_spec gprof_trace_specs[256] = {
	[GPROF_EV_EVENT_BATCH] = STRUCTURE("EventBatch"),
	[GPROF_EV_STACKS] = STRUCTURE("Stacks"),
	[GPROF_EV_STACK] = STRUCTURE("Stack"),
	[GPROF_EV_STRINGS] = STRUCTURE("Strings"),
	[GPROF_EV_STRING] = STRUCTURE("String"),
	[GPROF_EV_CPU_SAMPLES] = STRUCTURE("CPUSamples"),
	[GPROF_EV_CPU_SAMPLE] = STRUCTURE("CPUSample"),
	[GPROF_EV_FREQUENCY] = STRUCTURE("Frequency"),
	[GPROF_EV_EXPERIMENTAL_BATCH] = STRUCTURE("ExperimentalBatch"),
	[GPROF_EV_SYNC] = STRUCTURE("Sync"),
	[GPROF_EV_CLOCK_SNAPSHOT] = STRUCTURE("ClockSnapshot"),
	[GPROF_EV_END_OF_GENERATION] = STRUCTURE("EndOfGeneration"),
	[GPROF_EV_SYNC_POINT] = STRUCTURE("SyncPoint"),

	[GPROF_EV_PROCS_CHANGE] = TIMED("ProcsChange", "procs", "stack"),
	[GPROF_EV_PROC_START] = TIMED("ProcStart", "p", "p_seq"),
	[GPROF_EV_PROC_STOP] = TIMED("ProcStop"),
	[GPROF_EV_PROC_STEAL] = TIMED("ProcSteal", "p", "p_seq", "m"),
	[GPROF_EV_PROC_STATUS] = TIMED("ProcStatus", "p", "pstatus"),

	[GPROF_EV_GO_CREATE] = TIMED("GoCreate", "new_g", "new_stack", "stack"),
	[GPROF_EV_GO_CREATE_SYSCALL] = TIMED("GoCreateSyscall", "new_g"),
	[GPROF_EV_GO_START] = TIMED("GoStart", "g", "g_seq"),
	[GPROF_EV_GO_DESTROY] = TIMED("GoDestroy"),
	[GPROF_EV_GO_DESTROY_SYSCALL] = TIMED("GoDestroySyscall"),
	[GPROF_EV_GO_STOP] = TIMED("GoStop", "reason", "stack"),
	[GPROF_EV_GO_BLOCK] = TIMED("GoBlock", "reason", "stack"),
	[GPROF_EV_GO_UNBLOCK] = TIMED("GoUnblock", "g", "g_seq", "stack"),
	[GPROF_EV_GO_SYSCALL_BEGIN] = TIMED("GoSyscallBegin", "p_seq", "stack"),
	[GPROF_EV_GO_SYSCALL_END] = TIMED("GoSyscallEnd"),
	[GPROF_EV_GO_SYSCALL_END_BLOCKED] = TIMED("GoSyscallEndBlocked"),
	[GPROF_EV_GO_STATUS] = TIMED("GoStatus", "g", "m", "gstatus"),
	[GPROF_EV_GO_SWITCH] = TIMED("GoSwitch", "g", "g_seq"),
	[GPROF_EV_GO_SWITCH_DESTROY] = TIMED("GoSwitchDestroy", "g", "g_seq"),
	[GPROF_EV_GO_CREATE_BLOCKED] = TIMED("GoCreateBlocked", "new_g", "new_stack", "stack"),
	[GPROF_EV_GO_STATUS_STACK] = TIMED("GoStatusStack", "g", "m", "gstatus", "stack"),

	[GPROF_EV_STW_BEGIN] = TIMED("STWBegin", "kind", "stack"),
	[GPROF_EV_STW_END] = TIMED("STWEnd"),
	[GPROF_EV_GC_ACTIVE] = TIMED("GCActive", "gc_seq"),
	[GPROF_EV_GC_BEGIN] = TIMED("GCBegin", "gc_seq", "stack"),
	[GPROF_EV_GC_END] = TIMED("GCEnd", "gc_seq"),
	[GPROF_EV_GC_SWEEP_ACTIVE] = TIMED("GCSweepActive", "p"),
	[GPROF_EV_GC_SWEEP_BEGIN] = TIMED("GCSweepBegin", "stack"),
	[GPROF_EV_GC_SWEEP_END] = TIMED("GCSweepEnd", "swept", "reclaimed"),
	[GPROF_EV_GC_MARK_ASSIST_ACTIVE] = TIMED("GCMarkAssistActive", "g"),
	[GPROF_EV_GC_MARK_ASSIST_BEGIN] = TIMED("GCMarkAssistBegin", "stack"),
	[GPROF_EV_GC_MARK_ASSIST_END] = TIMED("GCMarkAssistEnd"),
	[GPROF_EV_HEAP_ALLOC] = TIMED("HeapAlloc", "heapalloc"),
	[GPROF_EV_HEAP_GOAL] = TIMED("HeapGoal", "heapgoal"),

	[GPROF_EV_GO_LABEL] = TIMED("GoLabel", "label"),
	[GPROF_EV_USER_TASK_BEGIN] = TIMED("UserTaskBegin", "task", "parent_task", "name", "stack"),
	[GPROF_EV_USER_TASK_END] = TIMED("UserTaskEnd", "task", "stack"),
	[GPROF_EV_USER_REGION_BEGIN] = TIMED("UserRegionBegin", "task", "name", "stack"),
	[GPROF_EV_USER_REGION_END] = TIMED("UserRegionEnd", "task", "name", "stack"),
	[GPROF_EV_USER_LOG] = TIMED("UserLog", "task", "key", "value", "stack"),

	[GPROF_EV_SPAN] = ALLOC_FREE("Span", "id", "npages_value", "kindclass"),
	[GPROF_EV_SPAN_ALLOC] = ALLOC_FREE("SpanAlloc", "id", "npages_value", "kindclass"),
	[GPROF_EV_SPAN_FREE] = ALLOC_FREE("SpanFree", "id"),
	[GPROF_EV_HEAP_OBJECT] = ALLOC_FREE("HeapObject", "id", "type"),
	[GPROF_EV_HEAP_OBJECT_ALLOC] = ALLOC_FREE("HeapObjectAlloc", "id", "type"),
	[GPROF_EV_HEAP_OBJECT_FREE] = ALLOC_FREE("HeapObjectFree", "id"),
	[GPROF_EV_GOROUTINE_STACK] = ALLOC_FREE("GoroutineStack", "id", "order"),
	[GPROF_EV_GOROUTINE_STACK_ALLOC] = ALLOC_FREE("GoroutineStackAlloc", "id", "order"),
	[GPROF_EV_GOROUTINE_STACK_FREE] = ALLOC_FREE("GoroutineStackFree", "id"),
};

const char *gprof_trace_type_name(uint8_t type)
{
	return gprof_trace_specs[type].name;
}

static const char *pick(const char *const *names, size_t nr, unsigned int i)
{
	return i < nr ? names[i] : NULL;
}

#define PICK(names, i) pick(names, sizeof(names) / sizeof((names)[0]), i)

const char *gprof_trace_kind_name(enum gprof_trace_kind kind)
{
	static const char *const names[] = {
		[GPROF_TRACE_SYNC] = "Sync",
		[GPROF_TRACE_METRIC] = "Metric",
		[GPROF_TRACE_LABEL] = "Label",
		[GPROF_TRACE_STACK_SAMPLE] = "StackSample",
		[GPROF_TRACE_RANGE_BEGIN] = "RangeBegin",
		[GPROF_TRACE_RANGE_ACTIVE] = "RangeActive",
		[GPROF_TRACE_RANGE_END] = "RangeEnd",
		[GPROF_TRACE_TASK_BEGIN] = "TaskBegin",
		[GPROF_TRACE_TASK_END] = "TaskEnd",
		[GPROF_TRACE_REGION_BEGIN] = "RegionBegin",
		[GPROF_TRACE_REGION_END] = "RegionEnd",
		[GPROF_TRACE_LOG] = "Log",
		[GPROF_TRACE_STATE_TRANSITION] = "StateTransition",
		[GPROF_TRACE_EXPERIMENTAL] = "Experimental",
	};

	return PICK(names, kind);
}

const char *gprof_trace_state_name(enum gprof_trace_resource_kind kind, unsigned int state)
{
	static const char *const go[] = {
		[GPROF_TRACE_GO_UNDETERMINED] = "Undetermined",
		[GPROF_TRACE_GO_NOT_EXIST] = "NotExist",
		[GPROF_TRACE_GO_RUNNABLE] = "Runnable",
		[GPROF_TRACE_GO_RUNNING] = "Running",
		[GPROF_TRACE_GO_WAITING] = "Waiting",
		[GPROF_TRACE_GO_SYSCALL] = "Syscall",
	};
	static const char *const proc[] = {
		[GPROF_TRACE_PROC_UNDETERMINED] = "Undetermined",
		[GPROF_TRACE_PROC_NOT_EXIST] = "NotExist",
		[GPROF_TRACE_PROC_RUNNING] = "Running",
		[GPROF_TRACE_PROC_IDLE] = "Idle",
	};

	switch (kind) {
	case GPROF_TRACE_RESOURCE_GOROUTINE:
		return PICK(go, state);
	case GPROF_TRACE_RESOURCE_PROC:
		return PICK(proc, state);
	default:
		return NULL;
	}
}
