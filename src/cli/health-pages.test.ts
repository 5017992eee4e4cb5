import assert from "node:assert/strict";
import { test } from "node:test";
import type { Health } from "@slipway/kube";
import { healthPage } from "./health-pages.ts";

const POOLS = {
  kind: "pools.example.com",
  since: Date.UTC(2026, 10, 23),
  missing: true,
  optional: false,
};
const PROVIDERS = {
  system: "providers",
  ready: true,
  leading: true,
  shards: { held: 1, of: 1 },
  waiting: [],
  problems: [],
};
const WAITS = "pools: pools.example.com not served by the API, since 2026-11-23T00:00:00.000Z";

function health(of: Partial<Health> = {}): Health {
  return { live: true, reached: true, ready: true, systems: [PROVIDERS], problems: [], ...of };
}

const waiting = health({
  ready: false,
  systems: [
    { system: "pools", ready: false, leading: true, shards: { held: 1, of: 1 }, waiting: [POOLS], problems: [] },
    PROVIDERS,
  ],
  problems: [WAITS],
});

function asked(url: string, of: Health, serving = true): string {
  const [path, query] = url.split("?");
  const page = healthPage(path!, { verbose: query === "verbose", serving, health: of });
  return page === undefined ? "none" : `${page.status} ${page.text}`;
}

test("it is ready once the API was reached and the handlers listen", () => {
  assert.equal(asked("/readyz", health()), "200 ok\n");
  assert.equal(asked("/readyz", health({ reached: false })), "500 the Kubernetes API was not reached yet\n");
  assert.equal(asked("/readyz", health(), false), "500 the boot service and the webhook do not listen yet\n");
  assert.equal(asked("/other", health()), "none");
});

test("a system that waits for a definition fails neither page, and is named", () => {
  assert.equal(asked("/readyz", waiting), `200 ok\n${WAITS}\n`);
  assert.equal(asked("/healthz", waiting), "200 ok\n");
  assert.equal(
    asked("/healthz?verbose", waiting),
    `200 ok\n[-] pools: waits, leads\n${WAITS}\n[+] providers: ready, leads\n`,
  );
});

test("where work is shared out, it shows how many shards of each system are here", () => {
  const of = health({ systems: [{ ...PROVIDERS, shards: { held: 4, of: 16 } }] });
  assert.equal(asked("/readyz?verbose", of), "200 ok\n[+] providers: ready, works on 4 of 16 shards\n");
});

test("what hangs makes it unhealthy, but not unready", () => {
  const problems = ["instance hangs on rack-1"];
  const of = health({ live: false, systems: [{ ...PROVIDERS, problems }], problems: [`providers: ${problems[0]}`] });
  assert.equal(
    asked("/healthz", of),
    "500 a reconcile hangs: a restart would help\nproviders: instance hangs on rack-1\n",
  );
  assert.match(asked("/readyz", of), /^200 ok\n/);
  assert.match(asked("/healthz?verbose", of), /^500 .*\n\[-\] providers: ready, leads\nproviders: instance hangs/);
});
