import assert from "node:assert/strict";
import { test } from "node:test";
import { OPENAPI_V2_PROTOBUF_ACCEPT, OPENAPI_V2_PROTOBUF_TYPE } from "./dispatch/documents.ts";
import { EXTRAS, impersonation, oldWorkloads, openApiV2Protobuf } from "./extras.ts";
import type { Status } from "./model/status.ts";
import { ADMIN } from "./server.ts";
import { world } from "./testing.ts";

const kindsIn = async (extras: typeof EXTRAS): Promise<string[]> => {
  const { ask, close } = await world({ extras });
  const { resources } = (await ask("GET", "/api/v1")) as unknown as { resources: { kind: string }[] };
  await close();
  return resources.map(({ kind }) => kind);
};

test("what is seldom needed is served where it is passed in, and only there", async () => {
  const [none, one, all] = [await kindsIn([]), await kindsIn([oldWorkloads]), await kindsIn(EXTRAS)];
  for (const kind of ["ReplicationController", "PodTemplate"]) {
    assert.ok(!none.includes(kind));
    assert.ok(one.includes(kind) && all.includes(kind));
  }
  assert.ok(none.includes("Pod"));
});

test("without its extra, a request to act as another user is refused, never answered for the one who asks", async () => {
  const asJane = async (extras: typeof EXTRAS) => {
    const { server, close } = await world({ extras });
    const headers = { "impersonate-user": "jane" };
    const path = "/api/v1/namespaces/default/secrets";
    const asked = { method: "GET", path, query: new URLSearchParams(), headers, body: undefined, user: ADMIN } as const;
    const { status, body } = (await server.handle(asked)) as { status: number; body: Status };
    await close();
    return [status, body.message];
  };
  assert.deepEqual(await asJane([]), [403, "this server lets nobody act as another user: leave --as away"]);
  assert.match((await asJane([impersonation])).join(" "), /^403 .*User "jane" cannot list/);
});

test("without its extra, OpenAPI v2 comes as JSON only", async () => {
  const answer = async (extras: typeof EXTRAS) => {
    const { send, close } = await world({ extras });
    const accept = OPENAPI_V2_PROTOBUF_ACCEPT;
    const { status, headers } = await send({ method: "GET", path: "/openapi/v2", accept });
    await close();
    return [status, headers["content-type"]];
  };
  assert.equal((await answer([]))[0], 406);
  assert.deepEqual(await answer([openApiV2Protobuf]), [200, OPENAPI_V2_PROTOBUF_TYPE]);
});
