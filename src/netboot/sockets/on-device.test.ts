import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { openOnDevice } from "./on-device.ts";
import { perlIs } from "./testing.ts";

const BIND = { device: "eth1", address: "0.0.0.0", port: 67 };

async function refused(): Promise<Fault> {
  const socket = await openOnDevice(BIND).catch((error: unknown) => error);
  assert.ok(socket instanceof Fault, String(socket));
  return socket;
}

test("what the kernel refuses is named with its step and what to do", async (t) => {
  for (const [said, reason, remedy] of [
    ["19 SO_BINDTODEVICE", "SO_BINDTODEVICE: ENODEV", /ip link/],
    ["98 bind", "bind: EADDRINUSE", /stop what listens/],
    ["99 bind", "bind: EADDRNOTAVAIL", /this address/],
    ["13 bind", "bind: EACCES", /CAP_NET_BIND_SERVICE/],
    ["1 SO_BINDTODEVICE", "SO_BINDTODEVICE: EPERM", /CAP_NET_RAW/],
    ["12 socket", "socket: ENOMEM", /ip addr/],
  ] as const) {
    perlIs(t, `printf '${said}' >&2; exit 1`);
    const fault = await refused();
    assert.equal(fault.code, "Unavailable");
    assert.equal(fault.message, `udp 0.0.0.0:67 on eth1: ${reason}`);
    assert.match(fault.remedy ?? "", remedy);
  }
});

test("a perl that breaks is quoted, and a missing one named", async (t) => {
  perlIs(t, "printf 'syntax error at line 1' >&2; exit 255");
  assert.match((await refused()).message, /perl ended without a socket: syntax error at line 1$/);
  perlIs(t, undefined);
  assert.ok(isFault(await refused(), "MissingInput"));
});
