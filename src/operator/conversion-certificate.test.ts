import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, json, quietLog, systemClock } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { isGood } from "../pki/renewal.ts";
import { CERTIFICATE_SECRET, keptCertificate } from "./conversion-certificate.ts";

const DAY_MS = 86_400_000;
const HOSTS = ["slipway-webhook.ns.svc"];
const REF = { name: CERTIFICATE_SECRET, namespace: "ns" };

function world() {
  const api = new FakeApi();
  const client = createClient(api, { clock: systemClock, random: cryptoRandom, log: quietLog });
  const on = (day: number, hosts = HOSTS) =>
    keptCertificate(client, { now: () => day * DAY_MS }, { namespace: REF.namespace, hosts });
  return { api, client, on };
}
const bundled = (caPem: string): string[] => caPem.split(/(?=-----BEGIN)/);

test("a certificate is made once, for its hosts and by the authority that is named", async () => {
  const { api, on } = world();
  const made = await on(0);
  const [authorityPem] = bundled(made.caPem);
  assert.ok(isGood(made, { now: 0, leftMs: 364 * DAY_MS, hosts: HOSTS, authorityPem: authorityPem! }));
  assert.deepEqual(await on(270), made);
  assert.equal(api.requests.filter(({ method }) => method !== "GET").length, 1);
});

test("looked at every six weeks or more often, what is shown was published before and is good", async () => {
  for (const everyDays of [7, 30, 42]) {
    const { on } = world();
    let last = await on(0);
    let changes = 0;
    for (let day = everyDays; day < 1500; day += everyDays) {
      const found = await on(day);
      const isNew = found.keyPem !== last.keyPem;
      if (isNew) changes++;
      // A server that has not looked again is trusted by one that has, and the other way round.
      for (const { certificatePem, keyPem } of [last, found])
        for (const { caPem } of [last, found])
          assert.ok(
            bundled(caPem).some((authorityPem) =>
              isGood({ certificatePem, keyPem }, { now: day * DAY_MS, leftMs: 0, hosts: HOSTS, authorityPem }),
            ),
            `day ${day}`,
          );
      assert.ok(bundled(found.caPem).length <= 2);
      last = found;
    }
    assert.ok(changes >= 4, `${changes} changes`);
  }
});

test("an operator that was away until the end takes the successor at once, or makes all anew", async () => {
  const { on } = world();
  const first = await on(0);
  const announced = await on(280);
  assert.equal(announced.keyPem, first.keyPem);
  const next = await on(400);
  assert.notEqual(next.keyPem, first.keyPem);
  assert.equal(next.caPem, announced.caPem);
  const last = await on(2000);
  assert.equal(bundled(last.caPem).length, 1);
  assert.ok(isGood(last, { now: 2000 * DAY_MS, leftMs: 0, authorityPem: last.caPem }));
});

test("damage and another host make it anew", async () => {
  const { client, on } = world();
  const first = await on(0);
  const other = await on(1, ["10.0.0.5"]);
  assert.notEqual(other.keyPem, first.keyPem);
  await client.patch(Secret, REF, { type: "merge", body: { data: { "tls.key": "bm8ga2V5" } } });
  const mended = await on(2, ["10.0.0.5"]);
  assert.ok(isGood(mended, { now: 2 * DAY_MS, leftMs: 0, hosts: ["10.0.0.5"], authorityPem: mended.caPem }));
});

test("replicas that make or renew it at the same time agree", async () => {
  const { on } = world();
  for (const day of [0, 280, 290]) {
    const all = await Promise.all([on(day), on(day), on(day)]);
    assert.equal(new Set(all.map(({ keyPem, caPem }) => keyPem + caPem)).size, 1, `day ${day}`);
  }
});

test("a namespace that is missing is named, with what to do", async () => {
  const { api, on } = world();
  api.intercept = ({ method }) => (method === "POST" ? json(404, { kind: "Status", reason: "NotFound" }) : undefined);
  await assert.rejects(on(0), {
    code: "MissingInput",
    message: /namespace ns: there is none/,
    remedy: "kubectl create namespace ns",
  });
});
