import assert from "node:assert/strict";
import { test } from "node:test";
import { inheritedSockets } from "./inherited.ts";

const PID = 42;

test("sockets passed to another process, or no number of them, are none; in every case no child finds the variables", async () => {
  for (const [LISTEN_PID, LISTEN_FDS] of [
    ["41", "1"],
    ["42", "0"],
    ["42", "-1"],
    ["42", "1000"],
    ["42", "x"],
    [undefined, "1"],
    ["42", undefined],
  ] as const) {
    const env: NodeJS.ProcessEnv = { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES: "eth1", PATH: "/bin" };
    const sockets = await inheritedSockets(env, PID);
    assert.deepEqual([sockets.list, sockets.find(67, "eth1")], [[], undefined]);
    assert.deepEqual(env, { PATH: "/bin" });
    sockets.close();
  }
});
