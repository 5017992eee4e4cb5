import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type HttpAnswer } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Tasks } from "./tasks.ts";

const body = ({ body }: HttpAnswer) => JSON.parse(body) as Record<string, unknown>;
const said = (answer: HttpAnswer) => (body(answer).error as { message: string }).message;

async function asked(tasks: Tasks, clock: VirtualClock, work: Promise<void>): Promise<HttpAnswer> {
  let answer: HttpAnswer | undefined;
  void tasks.run("Reset On", work, "one").then((given) => {
    answer = given;
  });
  await clock.run(10_000, () => answer !== undefined);
  return answer!;
}

test("work that ends in time is answered by its end, and leaves no task", async () => {
  const clock = new VirtualClock();
  const tasks = new Tasks(clock, 1_000);
  const failing = (fault: Error) => asked(tasks, clock, Promise.reject(fault));
  const done = await asked(tasks, clock, clock.sleep(999));
  assert.deepEqual([done.status, done.body], [204, ""]);
  const failed = await failing(new Error("x".repeat(300)));
  assert.equal(failed.status, 500);
  assert.equal(said(failed).length, 256);
  assert.equal((await failing(new Fault("Conflict", "m", "another order"))).status, 409);
  assert.equal((await failing(new Fault("Unavailable", "m", "no power"))).status, 500);
  assert.deepEqual(tasks.list().Members, []);
  assert.equal(clock.monotonic(), 999, "nobody waits longer than the work");
});

test("work that takes longer is a task, whose monitor answers as the work would have", async () => {
  const clock = new VirtualClock();
  const tasks = new Tasks(clock, 1_000);
  const late = await asked(tasks, clock, clock.sleep(2_000));
  const monitor = "/redfish/v1/TaskService/TaskMonitors/1";
  assert.deepEqual([late.status, late.headers.location, late.headers["retry-after"]], [202, monitor, "2"]);
  const StartTime = new Date(clock.now() - 1_000).toISOString();
  assert.partialDeepStrictEqual(body(late), {
    "@odata.id": "/redfish/v1/TaskService/Tasks/1",
    ...{ Id: "1", Name: "Reset On", TaskState: "Running", TaskStatus: "OK", StartTime, TaskMonitor: monitor },
    Messages: [],
  });
  assert.equal("EndTime" in body(late), false);
  const running = tasks.monitor("1")!;
  assert.deepEqual([running.status, running.headers.location, running.headers["retry-after"]], [202, monitor, "2"]);
  await clock.run(1_000);
  assert.equal(tasks.monitor("1")?.status, 204);
  const ended = tasks.get("1")!;
  assert.deepEqual(
    [ended.TaskState, ended.EndTime, "TaskMonitor" in ended],
    ["Completed", new Date(clock.now()).toISOString(), false],
  );
  assert.deepEqual([tasks.get("2"), tasks.monitor("2")], [undefined, undefined]);
});

test("a task that fails says why, in 256 letters", async () => {
  const clock = new VirtualClock();
  const tasks = new Tasks(clock, 1_000);
  await asked(
    tasks,
    clock,
    clock.sleep(2_000).then(() => Promise.reject(new Error("y".repeat(300)))),
  );
  await clock.run(2_000);
  const failed = tasks.get("1")!;
  assert.deepEqual([failed.TaskState, failed.TaskStatus], ["Exception", "Critical"]);
  const [{ Message }] = failed.Messages as [{ Message: string }];
  assert.equal(Message.length, 256);
  assert.equal(said(tasks.monitor("1")!), Message);
});

test("of 64 tasks the oldest that has ended makes room, or where none has, the oldest", async () => {
  const clock = new VirtualClock();
  const tasks = new Tasks(clock, 1_000);
  const never = new Promise<void>(() => {});
  const ids = () =>
    (tasks.list().Members as { "@odata.id": string }[]).map((each) => each["@odata.id"].split("/").at(-1));
  for (let n = 1; n <= 63; n++) await asked(tasks, clock, n === 2 ? clock.sleep(1_500) : never);
  assert.deepEqual([ids().length, tasks.list()["Members@odata.count"]], [63, 63]);
  await asked(tasks, clock, never);
  assert.deepEqual([ids().length, ids()[0], ids()[1]], [64, "1", "2"]);
  await asked(tasks, clock, never);
  assert.deepEqual([ids().length, ids()[0], ids()[1]], [64, "1", "3"], "the second has ended");
  await asked(tasks, clock, never);
  assert.deepEqual([ids().length, ids()[0]], [64, "3"]);
});

test("work that ends in time leaves nothing behind that waits", async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const clock = new VirtualClock();
  const sleep = clock.sleep.bind(clock);
  clock.sleep = (ms, signal) => {
    signals.push(signal);
    return sleep(ms, signal);
  };
  await asked(new Tasks(clock, 1_000), clock, Promise.resolve());
  assert.equal(signals[0]?.aborted, true);
});

test("what is about other machines is not there", async () => {
  const clock = new VirtualClock();
  const tasks = new Tasks(clock, 1_000);
  const started = tasks.run("Reset On", new Promise(() => {}), "mine");
  await clock.run(1_000);
  const monitor = (await started).headers.location!.split("/").at(-1)!;
  assert.equal(tasks.list(["other"])["Members@odata.count"], 0);
  assert.equal(tasks.get(monitor, ["other"]), undefined);
  assert.equal(tasks.monitor(monitor, ["other"]), undefined);
  assert.equal(tasks.monitor(monitor, ["mine"])?.status, 202);
});
