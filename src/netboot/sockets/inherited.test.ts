import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createSocket, type SocketType } from "node:dgram";
import { once } from "node:events";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
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

const DESCRIPTORS = "/proc/self/fd";
const skip = existsSync(DESCRIPTORS) ? false : `${DESCRIPTORS} is not here`;
const HANGS_MS = 60_000;

/** The sockets of this process, by their descriptors. */
function sockets(): Map<number, string> {
  const found = new Map<number, string>();
  for (const fd of readdirSync(DESCRIPTORS))
    try {
      found.set(Number(fd), readlinkSync(`${DESCRIPTORS}/${fd}`));
    } catch {
      // The descriptor of this reading is gone.
    }
  return new Map([...found].filter(([, path]) => path.startsWith("socket:")));
}

/** A bound socket's port and descriptor. */
async function bound(t: TestContext, type: SocketType): Promise<{ port: number; fd: number }> {
  const before = new Set(sockets().values());
  const socket = createSocket(type).bind(0);
  t.after(() => socket.close());
  await once(socket, "listening");
  const [fd] = [...sockets()].find(([, path]) => !before.has(path))!;
  return { port: socket.address().port, fd };
}

/** What a process with these descriptors says of them; it must end by itself. */
async function saidWith(fds: readonly number[], names: string): Promise<unknown> {
  const program = `
    import { inheritedSockets } from ${JSON.stringify(import.meta.resolve("./inherited.ts"))};
    const env = { LISTEN_PID: String(process.pid), LISTEN_FDS: "${fds.length}", LISTEN_FDNAMES: "${names}" };
    const show = (value) => console.log(JSON.stringify(value));
    await inheritedSockets(env, process.pid).then(
      (sockets) => {
        show([sockets.list, sockets.list.map(({ port }) => sockets.find(port, "other")?.address().port), sockets.find(1, "eth1") ?? null]);
        sockets.close();
      },
      ({ message, remedy }) => show([message, remedy]),
    );`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit", ...fds],
    timeout: HANGS_MS,
    killSignal: "SIGKILL",
  });
  const [said, [code]] = await Promise.all([text(child.stdout!), once(child, "exit")]);
  assert.equal(code, 0, "it has not ended");
  return JSON.parse(said);
}

test("sockets are found by their port, each with its name, past descriptors of other kinds", { skip }, async (t) => {
  const [a, b] = [await bound(t, "udp4"), await bound(t, "udp4")];
  const list = [
    { port: a.port, name: "eth1" },
    { port: b.port, name: "" },
  ];
  assert.deepEqual(await saidWith([a.fd, 2, b.fd], "eth1"), [list, [a.port, b.port], null]);
});

test("where one is of IPv6, none stays open, and it is said what to write", { skip }, async (t) => {
  const [a, b] = [await bound(t, "udp4"), await bound(t, "udp6")];
  assert.deepEqual(await saidWith([a.fd, b.fd], "eth1:eth1"), [
    `the inherited socket at port ${b.port}: it is of IPv6`,
    `write ListenDatagram=0.0.0.0:${b.port} in the socket unit`,
  ]);
});
