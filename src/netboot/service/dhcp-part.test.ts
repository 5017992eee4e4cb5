import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, Fault, isFault, type Log, quietLog } from "@slipway/base";
import { openLeases } from "../dhcp/leases/journal.ts";
import type { LeaseCopy } from "../dhcp/leases/mirror.ts";
import { CONFIG } from "../dhcp/testing.ts";
import { formatIpv4, parseIpv4 } from "../dhcp/wire/ipv4.ts";
import { netbootSettings } from "../settings.ts";
import { type DhcpPlace, openDhcp } from "./dhcp-part.ts";

const LOOPBACK = parseIpv4("127.0.0.1");
const HELD = { address: parseIpv4("10.0.0.100"), client: "1/52540000000a", state: "bound" } as const;

async function bound(t: TestContext): Promise<Socket> {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  await once(socket, "listening");
  t.after(() => socket.close());
  return socket;
}

/** A place whose sockets were opened by somebody else, and whose file knows these leases. */
async function place(t: TestContext, leases: { address: number; expiresAt: number }[] = []): Promise<DhcpPlace> {
  const dir = mkdtempSync(join(tmpdir(), "slipway-dhcp-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = openLeases(join(dir, "leases"));
  await Promise.all(leases.map((lease) => file.put({ ...HELD, ...lease })));
  file.close();
  const sockets = new Map([
    [67, await bound(t)],
    [4011, await bound(t)],
  ]);
  return {
    settings: netbootSettings({ dhcp: { subnets: CONFIG.subnets } }, "test").dhcp,
    boot: CONFIG.boot,
    ownBoot: () => undefined,
    on: { name: "lo", addresses: [{ address: LOOPBACK, mask: LOOPBACK }], alone: false },
    dir,
    notify: () => {},
    clock,
    log: quietLog,
    inherited: { find: (port) => sockets.get(port), list: [], close: () => {} },
  };
}

/** An API in which this replica can begin, and `refuse` says what becomes of its first lease. */
function copyWith(refuse: () => Fault): LeaseCopy {
  const create = async (_: unknown, object: object): Promise<never> => {
    if ("data" in object && "leases" in (object.data as object)) throw refuse();
    return object as never;
  };
  const other = { "slipway.dev/replica": "other", "slipway.dev/term": "99" };
  const theirs = { kind: "ConfigMap", metadata: { namespace: "n", name: "dhcp-1", annotations: other }, data: {} };
  return {
    ...{ namespace: "n", name: "dhcp", replica: "this" },
    client: {
      list: async () => ({ items: [], resourceVersion: "1" }) as never,
      find: async () => theirs as never,
      create,
      update: create,
    },
  };
}

test("an address is the machine's that had its last lease, and nobody's else", async (t) => {
  const now = clock.now();
  const part = await openDhcp(
    await place(t, [
      { address: HELD.address, expiresAt: now + 60_000 },
      { address: parseIpv4("10.0.0.101"), expiresAt: now - 1 },
    ]),
  );
  try {
    assert.deepEqual(part.holder("10.0.0.100"), { mac: "52:54:00:00:00:0a", living: true });
    assert.deepEqual(part.holder("10.0.0.101"), { mac: "52:54:00:00:00:0a", living: false });
    for (const address of ["10.0.0.102", "fe80::1", "", "localhost"])
      assert.equal(part.holder(address), undefined, address);
    assert.deepEqual(part.leases(), [{ mac: "52:54:00:00:00:0a", at: now + 60_000 }]);
  } finally {
    await part.close();
  }
});

test("nobody is seen before it serves; sockets that were opened for it stay open when it closes, so that it can start again", async (t) => {
  const where = await place(t);
  const socket = where.inherited!.find(67, "lo")!;
  for (let time = 0; time < 2; time++) {
    const part = await openDhcp(where);
    assert.equal(socket.listenerCount("message"), 0);
    const face = await part.serve();
    assert.equal(socket.listenerCount("message"), 1);
    await face.close();
    await part.close();
    assert.equal(socket.listenerCount("message"), 0);
    assert.notEqual(socket.address().port, 0);
  }
});

test("it does not begin with leases that another replica takes over meanwhile", async (t) => {
  const where = await place(t, [{ address: HELD.address, expiresAt: clock.now() + 60_000 }]);
  const copy = copyWith(() => new Fault("Conflict", "ConfigMap/dhcp", "it has been modified"));
  await assert.rejects(openDhcp({ ...where, copy }), (error) => isFault(error, "Conflict"));
  assert.equal(where.inherited!.find(67, "lo")!.listenerCount("message"), 0);
});

test("where ConfigMaps are forbidden it serves from its file alone, and says what is missing", async (t) => {
  const said: string[] = [];
  const log: Log = { ...quietLog, warn: (fields) => void said.push(JSON.stringify(fields)) };
  const where = await place(t, [{ address: HELD.address, expiresAt: clock.now() + 60_000 }]);
  const copy = copyWith(() => new Fault("Forbidden", "ConfigMap/dhcp", "not allowed"));
  const part = await openDhcp({ ...where, log, copy });
  assert.equal(part.holder("10.0.0.100")?.mac, "52:54:00:00:00:0a");
  await part.close();
  assert.match(said.join(), /let it list, get, create and update ConfigMaps in n/);
  assert.ok(readFileSync(join(where.dir, "leases"), "utf8").includes(formatIpv4(HELD.address)));
});

test("a network that makes no sense is refused by its name", async (t) => {
  const where = await place(t);
  const wrong = { ...where.settings, subnets: [{ network: "10.0.0.0/24", pools: [], gateway: "10.9.0.1" }] };
  await assert.rejects(openDhcp({ ...where, settings: wrong }), /subnet 10\.0\.0\.0\/24: gateway 10\.9\.0\.1/);
});
