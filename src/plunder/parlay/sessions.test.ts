/** Which hosts a map works on, how far it gets on each, and what it leaves open: with shells in the place of SSH. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock, Fault } from "@slipway/base";
import type { Action, Task } from "./action.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { wholeMachine } from "./here.ts";
import { parlay } from "./parlay.ts";

const { signal } = new AbortController();
const action = (text: string, more: object = {}): Action => ({
  ...{ name: text, ignoreFail: false, timeoutMs: 60_000, do: "command", isLocal: false },
  ...{ command: { is: "text", text }, ...more },
});
const task = (hosts: readonly string[], actions: readonly Action[], sessions = 1): Task => ({
  ...{ name: "d", hosts, sessions, actions },
});

/** Shells that say what they are asked. A command that has a host's name fails there; `break` breaks the connection. */
function world() {
  const seen: string[] = [];
  const written: Checkpoint[] = [];
  let kept: Checkpoint | undefined;
  const open = async (host: string) => {
    if (host.startsWith("gone")) throw new Fault("Unavailable", host, "not reached");
    seen.push(`${host} opened`);
    const run = async (command: string) => {
      seen.push(`${host} ${command}`);
      if (command === "break") throw new Fault("LostAnswer", host, "the connection broke");
      return { code: command.includes(host) ? 1 : 0, output: "", errors: "", isCut: false };
    };
    return { run, close: async () => void seen.push(`${host} closed`) };
  };
  const checkpoints = {
    read: async () => kept,
    write: async (checkpoint: Checkpoint) => {
      kept = checkpoint;
      written.push(checkpoint);
    },
    remove: async () => {
      kept = undefined;
    },
  };
  const reports: string[] = [];
  const ports = {
    ...{ open, here: wholeMachine(clock), clock, checkpoints },
    report: ({ host, action: of, error, isIgnored }: Parameters<Parameters<typeof parlay>[1]["report"]>[0]) =>
      void reports.push([host, of, error?.code ?? "done", ...(isIgnored ? ["ignored"] : [])].join(" ")),
  };
  const run = (tasks: readonly Task[], resume = false) => parlay(tasks, ports, { signal, resume });
  return { seen, reports, run, kept: () => kept };
}

test("N31 a host's connection is opened once, for the first action that needs it, and closed after the last", async () => {
  const { seen, run, kept } = world();
  await run([task(["a", "b"], [action("true", { isLocal: true }), action("one"), action("two")])]);
  assert.deepEqual(
    seen,
    ["a", "b"].flatMap((host) => ["opened", "one", "two", "closed"].map((what) => `${host} ${what}`)),
  );
  assert.equal(kept(), undefined);
  const local = world();
  await local.run([task(["a"], [action("true", { isLocal: true })])]);
  assert.deepEqual(local.seen, []);
});

test("N31 one after the other, a host that fails ends the deployment; its connection is closed", async () => {
  const { seen, reports, run, kept } = world();
  const map = [task(["a", "b", "c"], [action("one"), action("not on b"), action("three")]), task(["d"], [action("x")])];
  await assert.rejects(run(map), { code: "Refused", message: "d: it failed on b" });
  assert.deepEqual(seen.slice(4), ["a closed", "b opened", "b one", "b not on b", "b closed"]);
  assert.deepEqual(reports.at(-1), "b not on b Refused");
  assert.deepEqual(kept()?.done, { "0/a": 3, "0/b": 1 });
});

test("N31 side by side, the others go on, and of many that failed the first eight are named", async () => {
  const gone = Array.from({ length: 9 }, (_, at) => `gone-${at}`);
  const { seen, reports, run } = world();
  const named = gone.slice(0, 8).join(", ");
  await assert.rejects(run([task([...gone, "a"], [action("one")], 2)]), {
    message: `d: it failed on ${named} and 1 more`,
  });
  assert.deepEqual(seen, ["a opened", "a one", "a closed"]);
  assert.deepEqual(
    reports.slice(0, 9).toSorted(),
    gone.map((host) => `${host} one Unavailable`),
  );
  const eight = world();
  await assert.rejects(eight.run([task(gone.slice(0, 8), [action("one")], 16)]), {
    message: `d: it failed on ${named}`,
  });
});

test("N31 a failure that the map ignores is one; a connection that broke is not ignored", async () => {
  const { reports, run } = world();
  await run([task(["a"], [action("not on a", { ignoreFail: true }), action("two")])]);
  assert.deepEqual(reports, ["a not on a Refused ignored", "a two done"]);
  const broken = world();
  await assert.rejects(broken.run([task(["a"], [action("break", { ignoreFail: true }), action("two")])]));
  assert.deepEqual(broken.reports, ["a break LostAnswer"]);
});

test("N31 a map goes on where it was, and only the same one", async () => {
  const { seen, run } = world();
  const map = [task(["a", "gone"], [action("one"), action("two")])];
  await assert.rejects(run(map, true), { code: "NotFound", remedy: "run it without resuming" });
  await assert.rejects(run(map), { message: "d: it failed on gone" });
  seen.length = 0;
  await assert.rejects(run(map, true), { message: "d: it failed on gone" });
  assert.deepEqual(seen, [], "what is done is not done again");
  await assert.rejects(run([task(["a"], [action("one")])], true), {
    code: "Conflict",
    remedy: "run it from the beginning",
  });
});
