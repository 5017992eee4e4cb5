import assert from "node:assert/strict";
import { test } from "node:test";
import { world } from "../testing.ts";
import { type Check, health } from "./health.ts";

const ask = async (path: string, query: Record<string, string> = {}) => {
  const w = await world();
  try {
    const { status, body } = await w.send({ method: "GET", path, query });
    return { status, body };
  } finally {
    await w.close();
  }
};

test("verbose health names upstream's checks, as far as they apply, in its format", async () => {
  const common = ["[+]ping ok", "[+]log ok", "[+]etcd ok"];
  const hooks = [
    "[+]poststarthook/start-apiextensions-controllers ok",
    "[+]poststarthook/crd-informer-synced ok",
    "[+]poststarthook/start-system-namespaces-controller ok",
    "[+]poststarthook/storage-readiness ok",
    "[+]poststarthook/rbac/bootstrap-roles ok",
    "[+]poststarthook/bootstrap-controller ok",
  ];
  const ready = [...common, "[+]etcd-readiness ok", "[+]informer-sync ok", ...hooks, "[+]shutdown ok"];
  for (const [root, lines] of [
    ["livez", [...common, ...hooks]],
    ["healthz", [...common, ...hooks]],
    ["readyz", ready],
  ] as const)
    assert.deepEqual(await ask(`/${root}`, { verbose: "" }), {
      status: 200,
      body: `${[...lines, `${root} check passed`].join("\n")}\n`,
    });
});

test("each check has a path of its own, below the endpoints that ask it", async () => {
  for (const path of [
    "/livez/ping",
    "/readyz/etcd",
    "/healthz/log",
    "/readyz/poststarthook/rbac/bootstrap-roles",
    "/readyz/shutdown",
  ])
    assert.deepEqual(await ask(path), { status: 200, body: "ok" }, path);
  for (const path of ["/livez/nope", "/livez/shutdown", "/healthz/informer-sync"])
    assert.equal((await ask(path)).status, 404, path);
});

test("a failed check fails the whole and says no reason; excluded it does not, and strange exclusions are reported", () => {
  const checks: Check[] = [
    { name: "ping", fault: () => undefined },
    { name: "etcd", fault: () => new Error("no space left") },
  ];
  const of = (query: string) =>
    health(checks)({ method: "GET", path: "/livez", query: new URLSearchParams(query), headers: {} });
  assert.deepEqual(
    [of("")?.status, of("")?.body],
    [500, "[+]ping ok\n[-]etcd failed: reason withheld\nlivez check failed\n"],
  );
  assert.deepEqual(
    [of("exclude=etcd")?.status, of("exclude=etcd")?.body, of("exclude=etcd&exclude=odd&verbose")?.body],
    [
      200,
      "ok",
      '[+]ping ok\n[+]etcd excluded: ok\nwarn: some health checks cannot be excluded: no matches for "odd"\nlivez check passed\n',
    ],
  );
});
