# SPDX-License-Identifier: GPL-2.0-only
#
# table.jq: measurements to the lines of the table, columns parted by tabs: what,
# gprof, perf, others, gprof / perf.

def mean: if length == 0 then null else add / length end;
def round_to($digits): . * pow(10; $digits) | round / pow(10; $digits);
def shown($digits):
	if . == null then "-" else
		(round_to($digits) | tostring) as $text
		| if $digits == 0 then $text else
			($text | split(".")) as $part
			| $part[0] + "." + (($part[1] // "") + "0000000")[:$digits]
		end
	end;
def ratio($a; $b): if $a == null or $b == null then "-" else $a / $b | shown(2) end;

# Of two recorded stretches, the first only warms up.
def samples_measured: .samples * .recorded / (.recorded + .warm);
def cost: (.recorded - .alone) / samples_measured;
def slowdown: .recorded / .alone;

def line($what; $gprof; $perf; $other; $digits):
	if $gprof == null and $perf == null and ($other == null or ($other | startswith("Go")) or $other == "")
	then empty else
		[$what, ($gprof | shown($digits)), ($perf | shown($digits)),
		 ($other // ""),
		 ratio($gprof; $perf)]
	end;
def heading($what): ["**" + $what + "**", "", "", "", ""];

. as $all
| def of($row; $arch; $peer): [$all[] | select(.row == $row and .arch == $arch and .peer == $peer)];
def sample($arch; $peer; $mode; $depth; $stacks; $period):
	[of("samples"; $arch; $peer)[]
	 | select(.mode == $mode and .depth == $depth and .stacks == $stacks and .period == $period)];

def sample_line($arch; $what; $mode; $depth; $stacks):
	def of_peer($peer): sample($arch; $peer; $mode; $depth; $stacks; 50000) | map(cost) | mean;
	of_peer("bpftrace") as $bpf
	| line($what; of_peer("gprof"); of_peer("perf");
	       (if $bpf then "bpftrace " + ($bpf | shown(0)) else "" end); 0);

# Without frame pointers perf copies the stack; beside it what we take with them, by them alone.
def bare_line($arch; $what; $stacks):
	def cost_of($peer; $mode):
		sample($arch; $peer; $mode; 17; $stacks; 50000) | map(cost) | mean;
	cost_of("records"; "user") as $framed
	| line($what; cost_of("gprof"; "bare"); cost_of("dwarf"; "bare");
	       (if $framed then "by frame pointers " + ($framed | shown(0)) else "" end); 0);

# The ratio is that of what is added.
def slowdown_line($arch; $period; $name; $seed):
	def of_peer($peer): sample($arch; $peer; "user"; 17; 1; $period) | map(slowdown) | mean;
	of_peer("gprof") as $gprof | of_peer("perf") as $perf
	| line("one sample per \($name) instructions"; $gprof; $perf; "Go prototype " + $seed; 4)
	| .[4] = (if $gprof and $perf then ratio($gprof - 1; $perf - 1) else "-" end);

def our_bytes($arch; $mode; $depth; $stacks):
	[of("memory"; $arch; "hold1")[]
	 | select(.mode == $mode and .depth == $depth and .stacks == $stacks)
	 | .bytes / (.samples - .lost)] | mean;
def perf_bytes($arch; $mode; $depth; $stacks):
	sample($arch; "perf"; $mode; $depth; $stacks; 50000) | map(.bytes / .samples) | mean;
def memory_line($arch; $what; $mode; $depth; $stacks):
	line($what; our_bytes($arch; $mode; $depth; $stacks);
	     perf_bytes($arch; $mode; $depth; $stacks); ""; 1);
def lasts_line($arch; $what; $mode; $depth; $stacks):
	def seconds: if . then 1048576 / 10000 / . else null end;
	line($what; our_bytes($arch; $mode; $depth; $stacks) | seconds;
	     perf_bytes($arch; $mode; $depth; $stacks) | seconds; ""; 1);

def profile_line($arch; $what; field; $digits):
	def sum($peer; $parts):
		[of("profile"; $arch; $peer)[] | select(.what as $w | $parts | index($w))]
		| group_by(.run) | map(map(field) | if $digits == 0 then add else max end) | mean;
	line($what; sum("gprof"; ["record and write the profile"]);
	     sum("perf"; ["record", "report"]);
	     (sum("perf"; ["record", "script"]) as $s
	      | if $s then "perf script " + ($s | shown($digits)) else "" end); $digits);

def switch($row; $arch; $peer; $state):
	[of($row; $arch; $peer)[] | select(.module == $state)];
# Both times are of the same thing then; what disturbed one of them is not its cost.
def undisturbed: ([.alone, .recorded] | min) / .chunks / 2;
def watched: (.recorded - .alone) / .chunks / 2;
def idle_line($arch):
	# two switches in each round trip
	(switch("idle"; $arch; "nothing"; "not loaded") | map(undisturbed) | mean) as $without
	| (switch("idle"; $arch; "nothing"; "loaded") | map(undisturbed) | mean) as $with
	| line("module loaded, nobody records";
	       (if $with and $without then $with - $without else null end); null; ""; 1),
	  line("another process is recorded";
	       (switch("idle"; $arch; "gprof"; "loaded") | map(watched) | mean);
	       (switch("idle"; $arch; "perf"; "loaded") | map(watched) | mean); ""; 1),
	  line("scheduler statistics of the system are counted";
	       (switch("idle"; $arch; "schedstat"; "loaded") | map(watched) | mean); null; ""; 1);

def scale_line($arch; $n):
	line("\($n) recorder\(if $n > 1 then "s" else "" end) of one event, each";
	     of("scale"; $arch; "hold\($n)") | map(cost) | mean; null; ""; 0);
def start_line($arch; $n):
	def started($peer; field): [of("scale"; $arch; $peer)[] | select(.threads == $n) | field] | mean;
	line("START on \($n) thread\(if $n > 1 then "s" else "" end), each thread";
	     (started("gprof"; .start) | if . then . / $n else null end); null; ""; 0);

def crowd_line($arch; $what; $kind; $events):
	line($what; [of("crowd"; $arch; "gprof")[] | select(.what == $kind)
		     | (.recorded - .alone) / .chunks / $events] | mean; null; ""; 1);

def first_line($arch):
	def first($peer): [of("start"; $arch; $peer)[] | .start / 1e6] | mean;
	line("from execve to the first sample, millions"; first("gprof"); first("perf"); ""; 0);

# What LTTng's tools do not count is known from the load: 6 for each chunk.
def events: if .events == 6 then .chunks * 1.25 * 6 else .events end;
def event_cost: (.recorded - .alone) / (events * .recorded / (.recorded + .warm));
def event_line($arch; $what; field; $digits):
	def of_peer($peer): of("events"; $arch; $peer) | map(field) | mean;
	line($what; of_peer("gprof"); of_peer("perf");
	     ([["ftrace", of_peer("ftrace")], ["LTTng", of_peer("lttng")]]
	      | map(select(.[1])) | map(.[0] + " " + (.[1] | shown($digits))) | join(", ")); $digits);

def of_events($arch; $peer; field): of("events"; $arch; $peer) | map(field) | mean;
def stack_line($arch):
	line("with the stacks of tasks switched out and of wakers: instructions";
	     of_events($arch; "stack"; event_cost); of_events($arch; "perfstack"; event_cost);
	     "of the former"; 0),
	line("with these stacks: bytes"; of_events($arch; "stack"; .bytes / events);
	     of_events($arch; "perfstack"; .bytes / events); ""; 1);
# Of a round trip through a pipe, which are four events to gprof.
def kernel_line($arch):
	line("the kernel's part alone: instructions"; of_events($arch; "kernel"; event_cost); null; ""; 0),
	line("into a flight ring: instructions"; of_events($arch; "flight"; event_cost); null; ""; 0);
def trigger_line($arch):
	def of_peer($peer): of("trigger"; $arch; $peer) | map(.recorded / .chunks / 2) | mean;
	line("three triggers that do not fire, beside a trace";
	     (of_peer("trigger") as $with | of_peer("flight") as $without
	      | if $with and $without then $with - $without else null end); null; ""; 1);

# Beside what bcc's tools do, by bpftrace. Of two waits in each chunk.
def wait_line($arch; $what; $kind; field; $digits):
	def of_peer($peer): [of("waits"; $arch; $peer)[] | select(.what == $kind) | field] | mean;
	of_peer("gprof") as $ours | of_peer("records") as $framed | of_peer("bpftrace") as $theirs
	| line($what; $ours; null;
	       (if $framed then "by frame pointers \($framed | shown($digits)), " else "" end) +
	       (if $theirs then "bpftrace \($theirs | shown($digits))" else "" end); $digits);
def a_wait: (.recorded - .alone) / .chunks / 2;
def unsampled_line($arch; $what; $kind):
	line($what; [of("waits"; $arch; "unsampled")[] | select(.what == $kind) | a_wait] | mean;
	     null; ""; 1);

# Of malloc() with its free(), and of objects of the kernel.
def heap($arch; $peer; $what; field): [of("heap"; $arch; $peer)[] | select(.what == $what) | field] | mean;
def loaded_line($arch; $what; field):
	line($what; heap($arch; "gprof"; "loaded"; field); null;
	     ([["jemalloc", heap($arch; "jemalloc"; "loaded"; field)],
	       ["tcmalloc", heap($arch; "tcmalloc"; "loaded"; field)],
	       ["heaptrack", heap($arch; "heaptrack"; "loaded"; field)]]
	      | map(select(.[1])) | map(.[0] + " " + (.[1] | shown(1))) | join(", ")); 1);
def a_chunk: (.recorded - .alone) / .chunks;
def percent: (.recorded / .alone - 1) * 100;
def program_line($arch; $what; $program):
	heap($arch; "jemalloc"; $program; percent) as $theirs
	| line($what; heap($arch; "gprof"; $program; percent); null;
	       (if $theirs then "jemalloc \($theirs | shown(2))" else "" end); 2);
def object_line($arch; $what; $kind):
	line($what; heap($arch; "gprof"; $kind; a_chunk); null;
	     ([["bpftrace", heap($arch; "bpftrace"; $kind; a_chunk)],
	       ["memleak", heap($arch; "memleak"; $kind; a_chunk)]]
	      | map(select(.[1])) | map(.[0] + " " + (.[1] | shown(0))) | join(", ")); 0);

# Of recorded ones, how many of those alone are begun and ended in the same time.
def spawn_line($arch; $what; $kind):
	def of_peer($peer): [of("spawns"; $arch; $peer)[] | select(.what == $kind) | .alone / .recorded] | mean;
	line($what; of_peer("gprof"); of_peer("perf"); ""; 3);

def tasks_line($arch):
	def took($peer; field): [of("tasks"; $arch; $peer)[] | field] | mean;
	took("proc"; .all / 1e6) as $proc
	| line("stacks of 10,000 tasks, millions"; took("gprof"; .all / 1e6); null;
	       (if $proc then "/proc/PID/task/N/stack \($proc | shown(0))" else "" end); 1),
	line("likewise, to a profile with names, millions"; took("gprofctl"; .all / 1e6); null; ""; 0);

(["amd64", "arm64"][] as $arch
 | (if $arch == "amd64" then "timer" else "cycles" end) as $event
 | (heading("\($arch), \($event): instructions for one CPU sample"),
    sample_line($arch; "17 frames"; "user"; 17; 1),
    sample_line($arch; "4 frames"; "user"; 4; 1),
    sample_line($arch; "64 frames"; "user"; 64; 1),
    sample_line($arch; "127 frames"; "user"; 127; 1),
    sample_line($arch; "17 frames, in the kernel"; "kernel"; 17; 1),
    sample_line($arch; "17 frames, 100 stacks in turn"; "user"; 17; 100),
    sample_line($arch; "17 frames, 10,000 stacks in turn"; "user"; 17; 10000),
    bare_line($arch; "17 frames without frame pointers"; 1),
    bare_line($arch; "likewise, 10,000 stacks in turn"; 10000)),
   (heading("\($arch), \($event): how much longer the work takes"),
    slowdown_line($arch; 24000000; "24,000,000"; "1.036"),
    slowdown_line($arch; 2400000; "2,400,000"; "1.036"),
    slowdown_line($arch; 240000; "240,000"; "1.13"),
    slowdown_line($arch; 24000; "24,000"; "2.05")),
   (heading("\($arch), \($event): bytes for one sample, of everything that is written"),
    memory_line($arch; "17 frames"; "user"; 17; 1),
    memory_line($arch; "127 frames"; "user"; 127; 1),
    memory_line($arch; "17 frames, in the kernel"; "kernel"; 17; 1),
    memory_line($arch; "17 frames, 100 stacks in turn"; "user"; 17; 100),
    memory_line($arch; "17 frames, 10,000 stacks in turn"; "user"; 17; 10000)),
   (heading("\($arch), \($event): seconds until 1 MiB is full, at 10,000 samples a second"),
    lasts_line($arch; "17 frames"; "user"; 17; 1),
    lasts_line($arch; "17 frames, 100 stacks in turn"; "user"; 17; 100),
    lasts_line($arch; "17 frames, 10,000 stacks in turn"; "user"; 17; 10000)),
   (heading("\($arch), \($event): from samples to what people look at"),
    profile_line($arch; "instructions a sample"; .all / .samples; 0),
    profile_line($arch; "most memory, MiB"; .memory_kib / 1024; 1)),
   (heading("\($arch): instructions for one event of the scheduler"),
    event_line($arch; "switch, waking, wakeup: instructions"; event_cost; 0),
    event_line($arch; "bytes"; .bytes / events; 1),
    kernel_line($arch), stack_line($arch)),
   (heading("\($arch): instructions added to a context switch"),
    idle_line($arch), trigger_line($arch)),
   (heading("\($arch): instructions added for a task outside all targets beside 64 recorders of 2,500 processes"),
    crowd_line($arch; "context switch"; "yield"; 2),
    crowd_line($arch; "context switch with waking and wakeup"; "quickest"; 2)),
   (heading("\($arch): instructions to record a host of 2,000 processes"),
    first_line($arch)),
   (heading("\($arch): instructions for one wait"),
    wait_line($arch; "off the CPU, with both stacks"; "block"; a_wait; 0),
    wait_line($arch; "for a futex, with the stack of its waker"; "mutex"; a_wait; 0),
    wait_line($arch; "for no lock of the kernel"; "kernel"; a_wait; 0),
    unsampled_line($arch; "off the CPU, which is not sampled"; "block"),
    unsampled_line($arch; "for a futex, which is not sampled"; "mutex"),
    wait_line($arch; "bytes of the profile, off the CPU"; "block"; .bytes; 0),
    wait_line($arch; "bytes of the profile, for a futex"; "mutex"; .bytes; 0)),
   (heading("\($arch): instructions for malloc() with its free()"),
    loaded_line($arch; "loaded, not sampled"; (.quick - .quick_alone) / .chunks),
    loaded_line($arch; "loaded, with all that is"; a_chunk),
    object_line($arch; "probed, as memleak"; "probed")),
   (heading("\($arch): percent of CPU time added to a program, sampled by 512 KiB"),
    program_line($arch; "sqlite3: a table, its index, a join"; "sqlite3"),
    program_line($arch; "perl: a hash of lists, joined"; "perl"),
    line("malloc() and free() alone"; heap($arch; "gprof"; "loaded"; (.quick / .quick_alone - 1) * 100);
	 null; ""; 2)),
   (heading("\($arch): instructions for an object of the kernel"),
    object_line($arch; "allocated and freed, as memleak"; "objects"),
    object_line($arch; "allocated, not sampled"; "unsampled"),
    object_line($arch; "allocated and freed, not sampled"; "lasting")),
   (heading("\($arch): instructions for all tasks of a process"), tasks_line($arch)),
   (heading("\($arch): processes of a millisecond that end in the same time, of 1 alone"),
    spawn_line($arch; "CPU samples, 1,000 Hz, of a process and its children"; "cpu -p"),
    spawn_line($arch; "CPU samples, 1,000 Hz, of the host"; "cpu -a"),
    spawn_line($arch; "waits, of the host"; "block -a"),
    spawn_line($arch; "objects of the kernel, of the host"; "heap -a"),
    spawn_line($arch; "a trace with stacks, of the host"; "trace -a")),
   (heading("\($arch), \($event): many recorders, many threads, instructions"),
    scale_line($arch; 1), scale_line($arch; 4), scale_line($arch; 16), scale_line($arch; 64),
    start_line($arch; 1), start_line($arch; 100), start_line($arch; 10000)))
| @tsv
