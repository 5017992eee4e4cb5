import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { elasticAddresses } from "./elastic.ts";
import type { Session } from "./session.ts";

type Call = Parameters<Session>[0];

/** Addresses of project `p/1` whose API answers so; a Fault is thrown. */
function account(answer: (call: Call) => unknown) {
  const calls: Call[] = [];
  const session: Session = async (call) => {
    calls.push(call);
    const said = answer(call);
    if (said instanceof Fault) throw said;
    return said;
  };
  const elastic = elasticAddresses({ session, project: async () => "p/1", metroMapping: { here: "da" } });
  return { elastic, calls, lines: () => calls.map(({ method, path }) => `${method} ${path}`) };
}
const block = (id: string, more: object = {}) => ({ id, address: `203.0.113.${id}`, ...more });

test("every page of the project's addresses is read, each address once, and what is no address is left out", async () => {
  const pages = [
    { ip_addresses: [block("1"), { id: "x" }, { address: "1.2.3.4" }], meta: { last_page: 2 } },
    { ip_addresses: [block("1"), block("2")], meta: { last_page: 2 } },
  ];
  const { elastic, calls } = account(({ query }) => pages[Number(query?.page ?? 1) - 1]);
  assert.deepEqual(
    (await elastic.list()).map(({ id }) => id),
    ["1", "2"],
  );
  assert.deepEqual(
    calls.map(({ path, query }) => [path, query]),
    [
      ["/projects/p%2F1/ips", { types: "public_ipv4", include: "assignments", per_page: 250 }],
      ["/projects/p%2F1/ips", { types: "public_ipv4", include: "assignments", per_page: 250, page: 2 }],
    ],
  );
  const one = account(() => ({ ip_addresses: [block("1")] }));
  assert.equal((await one.elastic.list()).length, 1);
  assert.equal(one.calls.length, 1);
});

test("an answer without addresses is a fault, not an empty project", async () => {
  for (const body of [{}, undefined, { ip_addresses: "none" }])
    await assert.rejects(account(() => body).elastic.list(), (error) => isFault(error, "Unavailable"));
});

test("an address says its tags, metro, and which machines have it, by whatever the API names them with", async () => {
  const assignments = [
    { id: "a1", assigned_to: { href: "/metal/v1/devices/m-1" } },
    { href: "/metal/v1/ips/a2", assigned_to: { href: "/metal/v1/metal-gateways/g-1" } },
    { assigned_to: null },
  ];
  const { elastic } = account(() => ({
    ip_addresses: [
      block("1", { tags: ["t"], metro: { code: "da" }, assignments }),
      block("2", { tags: null, metro: null, assignments: null }),
    ],
  }));
  assert.deepEqual(await elastic.list(), [
    {
      ...{ id: "1", address: "203.0.113.1", tags: ["t"], metro: "da" },
      assignments: [
        { id: "a1", machine: "m-1" },
        { id: "a2", machine: undefined },
      ],
    },
    { id: "2", address: "203.0.113.2", tags: [], metro: undefined, assignments: [] },
  ]);
});

test("B33 one address is reserved with its tags, in the metro by the account's or the facility's name of it, and never pends on people", async () => {
  const body = async (metro: string) => {
    const { elastic, calls, lines } = account(() => block("1"));
    assert.equal((await elastic.reserve({ metro, tags: ["t"] })).id, "1");
    assert.deepEqual(lines(), ["POST /projects/p%2F1/ips"]);
    return calls[0]?.body;
  };
  const wanted = { type: "public_ipv4", quantity: 1, tags: ["t"], fail_on_approval_required: true };
  assert.deepEqual(await body("here"), { ...wanted, metro: "da" });
  assert.deepEqual(await body("ny5"), { ...wanted, metro: "ny" });
  assert.deepEqual(await body("sv"), { ...wanted, metro: "sv" });
});

test("another project's address is not ordered, and an answer without an id is a lost one", async () => {
  const { elastic, calls } = account(() => ({}));
  await assert.rejects(
    elastic.reserve({ metro: "da", tags: [], projectId: "p2" }),
    (error) => isFault(error, "Invalid") && /serves project p\/1/.test(error.message),
  );
  assert.deepEqual(calls, []);
  await assert.rejects(elastic.reserve({ metro: "da", tags: [], projectId: "p/1" }), (error) =>
    isFault(error, "LostAnswer"),
  );
});

const done = new Fault("AlreadyConfigured", "it", "is so already");
const wrong = new Fault("Invalid", "it", "is wrong");

test("what stands so already is done: an address of a machine, a session, BGP; any other refusal is the caller's", async () => {
  const address = { id: "1", address: "203.0.113.1", tags: [], metro: "da", assignments: [] };
  const ways = (elastic: ReturnType<typeof elasticAddresses>) => [
    () => elastic.assign(address, "m/1"),
    () => elastic.openSession("m/1"),
    () => elastic.enableBgp({ asn: 65_000 }),
  ];
  for (const at of [0, 1, 2]) {
    const so = account(({ method }) => (method === "GET" ? undefined : done));
    await ways(so.elastic)[at]!();
    assert.ok(so.calls.at(-1)?.mayBeDone);
    const no = account(({ method }) => (method === "GET" ? {} : wrong));
    await assert.rejects(ways(no.elastic)[at]!(), wrong);
  }
  const fine = account(() => undefined);
  for (const way of ways(fine.elastic)) await way();
  assert.deepEqual(fine.lines(), [
    "POST /devices/m%2F1/ips",
    "POST /devices/m%2F1/bgp/sessions",
    "GET /projects/p%2F1/bgp-config",
    "POST /projects/p%2F1/bgp-configs",
  ]);
  assert.deepEqual(
    [fine.calls[0]?.body, fine.calls[1]?.body],
    [{ address: "203.0.113.1" }, { address_family: "ipv4" }],
  );
});

test("BGP is enabled where it is not, with the password where there is one", async () => {
  const enable = async (held: unknown, password?: string) => {
    const { elastic, calls } = account(({ method }) => (method === "GET" ? held : undefined));
    await elastic.enableBgp({ asn: 65_001, ...(password !== undefined && { password }) });
    return calls[1]?.body;
  };
  const wanted = { asn: 65_001, deployment_type: "local", use_case: "kubernetes-load-balancer" };
  assert.deepEqual(await enable({}), wanted);
  assert.deepEqual(await enable({ id: "b", status: "disabled" }, "secret"), { ...wanted, md5: "secret" });
  assert.equal(await enable({ id: "b", status: "enabled" }), undefined);
});

test("B33 an address is taken from its machines before it is given back; one that is gone is done", async () => {
  const assignments = [{ id: "a1", assigned_to: { href: "/devices/m-1" } }, { id: "a2" }];
  const held = account(({ method, path }) =>
    method === "GET"
      ? block("1", { assignments })
      : path === "/ips/a1"
        ? new Fault("NotFound", "a1", "gone")
        : undefined,
  );
  await held.elastic.release("1");
  assert.deepEqual(held.lines(), ["GET /ips/1", "DELETE /ips/a1", "DELETE /ips/a2", "DELETE /ips/1"]);
  assert.deepEqual(held.calls[0]?.query, { include: "assignments" });
  const gone = account(() => new Fault("NotFound", "1", "gone"));
  await gone.elastic.release("1");
  assert.equal(gone.calls.length, 1);
  await assert.rejects(account(() => wrong).elastic.release("1"), wrong);
  await assert.rejects(account(({ method }) => (method === "GET" ? block("1") : wrong)).elastic.release("1"), wrong);
});
