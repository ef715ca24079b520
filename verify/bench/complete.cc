// SPDX-License-Identifier: GPL-2.0-only
/*
 * complete.cc: what C++ programs do, for complete.guest.
 *
 *	complete_cxx work US		works for so many microseconds
 *	complete_cxx block		waits 57 times, 1 ms each
 *	complete_cxx leak		keeps what it allocates
 *	complete_cxx children N US	runs itself N times, each for so long
 */
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

#define FN __attribute__((noinline, noclone))

extern char **environ;

namespace {
using clock_type = std::chrono::steady_clock;

struct shape {
	virtual ~shape() = default;
	virtual double area(int depth) const = 0;
};

template <typename T> struct box : shape {
	std::unique_ptr<shape> inner;
	T side{2};
	FN double area(int depth) const override
	{
		return inner && depth ? side + inner->area(depth - 1) : side * side;
	}
};

FN int parse(const std::string &s)
{
	if (s.size() % 5 == 0)
		throw std::invalid_argument(s);
	return std::stoi(s);
}

FN double turn(int i)
{
	std::map<std::string, std::vector<int>> m;
	std::unique_ptr<shape> s;
	double sum = 0;

	for (int k = 0; k < 20; k++) {
		auto b = std::make_unique<box<float>>();

		b->inner = std::move(s);
		s = std::move(b);
		try {
			m[std::to_string(k % 7)].push_back(parse(std::to_string(i * k)));
		} catch (const std::exception &e) {
			sum += e.what()[0];
		}
	}
	for (auto &each : m)
		std::sort(each.second.begin(), each.second.end(), [](int a, int b) { return a > b; });
	return sum + s->area(20);
}

FN double work(std::chrono::microseconds us)
{
	double sum = 0;

	for (auto end = clock_type::now() + us; clock_type::now() < end;)
		sum += turn(static_cast<int>(sum) % 1000 + 1);
	return sum;
}

FN void keep(int depth, std::vector<std::string *> &kept)
{
	if (depth)
		return keep(depth - 1, kept);
	kept.push_back(new std::string(3000, 'x'));
}

FN void children(char *self, int nr, char *us)
{
	char mode[] = "work";
	char *argv[] = { self, mode, us, nullptr };
	pid_t pid;

	for (int i = 0; i < nr; i++)
		if (!posix_spawn(&pid, self, nullptr, nullptr, argv, environ))
			waitpid(pid, nullptr, 0);
}
}

int main(int argc, char **argv)
{
	std::string mode = argc > 1 ? argv[1] : "";
	static std::vector<std::string *> kept;

	if (mode == "work" && argc > 2)
		return work(std::chrono::microseconds(std::atol(argv[2]))) < 0;
	if (mode == "block")
		for (int i = 0; i < 57; i++)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
	if (mode == "leak")
		for (int i = 0; i < 20000; i++)
			keep(i % 20, kept);
	if (mode == "children" && argc > 3)
		children(argv[0], std::atoi(argv[2]), argv[3]);
	return 0;
}
