import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault, plain, quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Account, type AccountPorts, Accounts } from "./accounts.ts";
import type { MachineDriver } from "./machine.ts";

const ACCOUNT: Account = {
  ...{ type: "equinix", endpoint: undefined, ca: undefined, token: "t1", project: "p" },
  ...{ planMapping: {}, metroMapping: {} },
};

function desk(ports: Partial<AccountPorts> = {}) {
  const clock = new VirtualClock();
  const made: { token: string; endpoint: string | undefined; hasHosts: boolean }[] = [];
  const trusted: (string | undefined)[] = [];
  const http = (ca: string | undefined) => {
    trusted.push(ca);
    return async () => plain(200, "");
  };
  const accounts = new Accounts(
    {
      equinix: ({ token, endpoint }, { hosts }) => {
        made.push({ token, endpoint, hasHosts: hosts !== undefined });
        return { type: "equinix" } as MachineDriver;
      },
    },
    { clock, log: quietLog, http, ...ports },
  );
  const held = { account: ACCOUNT, reads: 0 };
  const source = {
    name: "Secret/ns/a",
    read: async () => {
      held.reads++;
      return held.account;
    },
  };
  return { clock, accounts, made, trusted, held, fleet: () => accounts.fleet(source), source };
}

test("H18 however many ask, credentials are read once a minute, and one driver serves as long as they are the same", async () => {
  const { clock, made, held, fleet } = desk();
  const [first, second] = await Promise.all([fleet(), fleet()]);
  assert.equal(first, second);
  await clock.run(59_999);
  assert.equal(await fleet(), first);
  assert.equal(held.reads, 1);
  await clock.run(1);
  assert.equal(await fleet(), first);
  assert.deepEqual([held.reads, made.length], [2, 1]);
});

test("H18 rotated credentials make a new driver after a minute, and at once when the provider refused the old ones", async () => {
  const { accounts, made, held, fleet, source } = desk();
  const first = await fleet();
  held.account = { ...ACCOUNT, token: "t2" };
  assert.equal(await fleet(), first);
  accounts.refused("Secret/ns/other");
  assert.equal(await fleet(), first);
  accounts.refused(source.name);
  assert.notEqual(await fleet(), first);
  assert.deepEqual(
    made.map(({ token }) => token),
    ["t1", "t2"],
  );
});

test("credentials that can't be read are asked for again by the next, who gets them", async () => {
  const { accounts, source } = desk();
  let fails = true;
  const shaky = { ...source, read: async () => (fails ? assert.fail("not now") : ACCOUNT) };
  await assert.rejects(accounts.fleet(shaky));
  fails = false;
  assert.ok(await accounts.fleet(shaky));
});

test("an account's own endpoint goes before the usual one of its driver, and its certificate is what is trusted", async () => {
  const { made, trusted, held, fleet, accounts, source } = desk({ endpoints: { equinix: "https://usual.test" } });
  await fleet();
  held.account = { ...ACCOUNT, endpoint: "https://own.test", ca: "PEM" };
  accounts.refused(source.name);
  await fleet();
  assert.deepEqual(
    made.map(({ endpoint }) => endpoint),
    ["https://usual.test", "https://own.test"],
  );
  assert.deepEqual(trusted, [undefined, "PEM"]);
});

test("own hosts reach the driver where there are some", async () => {
  for (const hosts of [undefined, {} as NonNullable<AccountPorts["hosts"]>]) {
    const { made, fleet } = desk(hosts && { hosts });
    await fleet();
    assert.equal(made[0]?.hasHosts, hosts !== undefined);
  }
});

test("a type without a driver is refused with the ones that there are", async () => {
  const { held, fleet } = desk();
  held.account = { ...ACCOUNT, type: "moon" };
  await assert.rejects(
    fleet(),
    (error) =>
      isFault(error, "Invalid") && error.advice === "Secret/ns/a: there is no driver of type moon; use one of equinix",
  );
});
