import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { fingerprint } from "../protocol/key.ts";
import { hostsAndNews, inventoryOf, someHosts } from "./testing.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";
const C = "52:54:00:00:00:0c";
const NAME = "host-52-54-00-00-00-0a";
const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "slipway-hosts-"));
after(() => rmSync(folder, { recursive: true }));

test("N1 a host that nobody declared or approved is given nothing that writes, and is not handed what it was given before", async () => {
  const { clock, hosts, news } = hostsAndNews();
  hosts.register(inventoryOf(A), A, { address: "10.0.0.5", proof: "lease" });
  const wipe = { order: "wipe", how: "full", disks: "all" } as const;
  assert.throws(
    () => hosts.give(A, wipe),
    (error) => isFault(error, "Forbidden") && error.remedy === `slipway approve host/${NAME}`,
  );
  hosts.give(A, { order: "inspect" });
  assert.equal((await hosts.nextOrder(NAME, never))?.order, "inspect");
  hosts.result(NAME, hosts.get(A)!.order!.is.id, { ok: true, message: "" });

  assert.equal(hosts.declare(NAME, { is: "declared" }), true);
  assert.equal(hosts.declare(NAME, { is: "declared" }), false);
  assert.equal(hosts.standing(A).trust, "declared");
  const { id } = hosts.give(A, wipe);
  hosts.declare(NAME, { is: "none" });
  let handed: string | undefined;
  const waiting = hosts.nextOrder(NAME, never).then((order) => {
    handed = order?.id;
  });
  await clock.run(1_000);
  assert.equal(handed, undefined);
  assert.match(
    news.flatMap((change) => (change.is === "refused" ? [change.because] : [])).join(),
    /the order "wipe" is not handed over: it is neither declared nor approved/,
  );
  hosts.approve(A);
  await waiting;
  assert.equal(handed, id);
  hosts.withdraw(A);
  assert.equal(hosts.standing(A).trust, "discovered");
});

test("N1 an approval for a key holds for the boot that made it, and one for a key that its agent has not is refused", () => {
  const { hosts } = hostsAndNews();
  const boot = (key?: string) => {
    const { key: _usual, ...agent } = inventoryOf(A).agent;
    hosts.register({ ...inventoryOf(A), agent: { ...agent, ...(key && { key }) } }, A, {
      ...{ address: "10.7.0.5", proof: "claim" },
    });
    const { agentKey } = hosts.get(A)!;
    return agentKey && fingerprint(agentKey);
  };
  boot();
  assert.throws(() => hosts.approve(A), /only its own word says which machine it is/);
  assert.throws(() => hosts.approve(A, "5559-c603-7d92-0c10-a273-ec75"), /its agent has registered no key/);
  const first = boot(`age1${"q".repeat(58)}`);
  hosts.approve(A, first);
  assert.equal(hosts.standing(A).trust, "approved");
  boot(`age1${"p".repeat(58)}`);
  assert.equal(hosts.standing(A).trust, "discovered");
  assert.throws(() => hosts.approve(A, first), /its agent has registered the key/);
});

test("N1 a card that turns up at another port of its relay is not trusted before it is approved there", () => {
  const { hosts } = hostsAndNews();
  const at = (via: string) => {
    hosts.register(inventoryOf(A), A, { address: "10.8.0.5", proof: "relay", via });
    return hosts.standing(A).trust;
  };
  assert.equal(at("10.8.0.1//"), "discovered");
  hosts.declare(NAME, { is: "declared" });
  assert.deepEqual(
    [at("10.8.0.1/01/"), at("10.8.0.1/02/"), at("10.8.0.1/01/")],
    ["declared", "discovered", "declared"],
  );
  assert.equal(at("10.8.0.1/02/"), "discovered");
  hosts.approve(A);
  assert.deepEqual([at("10.8.0.1/02/"), at("10.8.0.1/01/")], ["approved", "discovered"]);
});

test("who is declared or approved keeps its record when others flood, and is there after a restart", () => {
  const clock = new VirtualClock();
  const file = join(folder, "kept.db");
  const hosts = someHosts(clock, { file, bounds: { hosts: 2 } });
  for (const mac of [A, B]) hosts.register(inventoryOf(mac), mac, { address: "10.0.0.5", proof: "lease" });
  hosts.approve(A);
  hosts.declare("host-52-54-00-00-00-0b", { is: "declared" });
  hosts.seen({ mac: C });
  assert.equal(hosts.get(C), undefined);
  hosts.close();
  const again = someHosts(clock, { file, bounds: { hosts: 2 } });
  assert.deepEqual([again.standing(A).trust, again.standing(B).trust], ["approved", "discovered"]);
  again.register(inventoryOf(C), C);
  assert.deepEqual([again.get(A)?.name, again.get(B)], [NAME, undefined], "not declared yet, it makes room");
  again.close();
});

test("N1 an agent that registers again with its key, by its token, is the same boot: its capability still is no other address's", () => {
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  const { agent, ...inventory } = inventoryOf(A);
  const { key, ...keyless } = agent;
  const at = (address: string) => ({ address, proof: "claim" }) as const;
  const capability = "of this boot";
  const { host } = hosts.register({ ...inventory, agent: keyless }, A, { ...at("10.0.0.1"), capability });
  const order = hosts.give(host, { order: "inspect" });
  const { token } = hosts.register({ ...inventory, agent: { ...keyless, key: key! } }, A, at("10.0.0.1"));

  assert.equal(hosts.byToken(token)?.agentKey, key);
  assert.equal(hosts.isOpen(host, order.id), true);
  assert.throws(
    () => hosts.register({ ...inventory, agent: keyless }, A, { ...at("10.0.0.9"), capability }),
    (error) => isFault(error, "Forbidden"),
  );
  hosts.register({ ...inventory, agent: keyless }, A, { ...at("10.0.0.9"), capability: "of the next boot" });
});

test("beside a cluster no host is trusted with anything before the cluster has said what it knows, approvals included", async () => {
  const clock = new VirtualClock();
  const hosts = someHosts(clock, { hasCluster: true, trust: "first-seen" });
  const { host: name } = hosts.register(inventoryOf(A), A, { address: "10.0.0.5", proof: "lease" });
  hosts.approve(name);
  const refused: string[] = [];
  hosts.onChange((change) => change.is === "refused" && refused.push(change.because));
  assert.match(hosts.standing(name).because, /the cluster has not said yet/);
  assert.throws(() => hosts.give(name, { order: "wipe", how: "full", disks: "all" }), /has not said yet/);
  assert.equal(hosts.declare(name, { is: "none" }), true);
  assert.equal(hosts.standing(name).trust, "approved");
  assert.equal(hosts.declare(name, { is: "none" }), false);
  const { id } = hosts.give(name, { order: "wipe", how: "full", disks: "all" });

  // Its namespace demands more than it has: what was ordered before stays where it is.
  hosts.declare(name, { is: "none", policies: [{ namespace: "rack", demands: "tpm" }] });
  const none = new AbortController();
  const asked = hosts.nextOrder(name, none.signal);
  assert.match(refused.join(), /is not handed over: slipway.dev\/trust: tpm on namespace rack/);
  hosts.proved(name, { endorsementKey: "a".repeat(64), pcrs: {} });
  hosts.approve(name);
  assert.equal((await asked)?.id, id);
});
