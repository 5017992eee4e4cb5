/** Nothing that a provider or a machine says brings a secret or a terminal's control characters out of the process (point 21). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { json } from "@slipway/base";
import { ConfigMap } from "@slipway/kube/core";
import fc from "fast-check";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { EXAMPLE_KEYS } from "../../src/laptop/metal.ts";
import type { HarvesterWorld, HarvesterWorldOptions } from "./harvester-world.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { condition, using } from "./using.ts";
import { JOIN_TOKEN, MINUTE } from "./world.ts";

const ECHOES: readonly [name: string, encode: (secret: string) => string][] = [
  ["as it is", (secret) => secret],
  ["as a header", (secret) => `X-Auth-Token: ${secret}`],
  ["in an URL", (secret) => `https://key:${encodeURIComponent(secret)}@api.example/`],
  ["in base64", (secret) => Buffer.from(`token ${secret}`).toString("base64")],
  ["in JSON", (secret) => JSON.stringify(JSON.stringify({ token: secret }))],
  ["in pieces", (secret) => `${secret.slice(0, 6)}\u001b[31m\u0000${secret.slice(6)}`],
  ["where the message is cut", (secret) => `${"x".repeat(280)} ${secret}`],
];

/** All that left the process. */
async function said(world: HarvesterWorld): Promise<string> {
  const objects = [
    ...(await world.pools()),
    ...(await world.instances()),
    ...(await world.nodes()),
    ...(await world.events()),
    ...(await world.client.list(ConfigMap)).items,
    ...(await world.client.list(MachineProvider)).items,
  ];
  // Unescaped too: a control character in JSON is spelled.
  return [JSON.stringify(objects), ...objects.map(texts), ...world.logged].join("\n");
}

function texts(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? Object.values(value).map(texts).join("\n") : "";
}

function assertClean(out: string, secret: string): void {
  for (const [name, encode] of ECHOES.slice(0, 5)) assert.ok(!out.includes(encode(secret)), name);
  for (let from = 0; from + 16 <= secret.length; from++)
    assert.ok(!out.includes(secret.slice(from, from + 16)), `characters ${from} and on`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  assert.doesNotMatch(out, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\\u00[01]|\\u001b/);
}

const REFUSALS = (["equinix", "latitude"] as const).flatMap((provider) =>
  ECHOES.flatMap(([name, encode]) => [401, 422, 500].map((status) => ({ provider, name, encode, status }))),
);

for (const { provider, name, encode, status } of ofTurn(REFUSALS, process.env))
  test(`a provider that echoes the key ${name} in a ${status} brings it nowhere (${provider})`, () => {
    const keys = EXAMPLE_KEYS[provider];
    const clouds: HarvesterWorldOptions["clouds"] = (inner) => async (request) => {
      const order = request.method === "POST" && /\/(devices|servers|user_data)(\?|$)/.test(request.url);
      if (!order) return await inner(request);
      const detail = `\u001b]0;owned\u0007\u001b[2Jrefused: ${encode(keys.token)}`;
      return json(status, { errors: provider === "equinix" ? [detail] : [{ code: "X", detail }] });
    };
    return using({ provider, clouds }, async (world) => {
      await world.pool("rack", { count: 4 });
      await world.clock.run(3 * MINUTE);
      const [instance] = await world.instances();
      assert.ok(condition(instance, "Stalled"), "the refusal is reported");
      if (status !== 500) assert.match(JSON.stringify(instance!.status), /refused/);
      assertClean(await said(world), keys.token);
      await world.client.delete(InstancePool, { name: "rack" });
    });
  });

test("a provider's words about a machine are filtered as well: state, address, plan, event", () => {
  const poison = `${EXAMPLE_KEYS.equinix.token}\u001b[31m ${JOIN_TOKEN}`;
  const clouds: HarvesterWorldOptions["clouds"] = (inner) => async (request) => {
    const answer = await inner(request);
    const state = `"state":${JSON.stringify(poison)}`;
    const body = answer.body.startsWith("{") ? answer.body.replaceAll(/"state":"\w+"/g, state) : answer.body;
    return { ...answer, body };
  };
  return using({ clouds }, async (world) => {
    await world.pool("rack", {});
    await world.clock.run(2 * MINUTE);
    const out = await said(world);
    assert.match(out, /redacted/);
    assertClean(out, EXAMPLE_KEYS.equinix.token);
    assertClean(out, JOIN_TOKEN);
  });
});

test("a status that was filtered is written once, not at every look", () => {
  let writes = 0;
  const clouds: HarvesterWorldOptions["clouds"] = (inner) => async (request) => {
    const order = request.method === "POST" && request.url.includes("/devices");
    return order ? json(422, { errors: [`refused: ${EXAMPLE_KEYS.equinix.token}`] }) : await inner(request);
  };
  const transport: HarvesterWorldOptions["transport"] = (inner) => ({
    ...inner,
    request: async (request) => {
      if (request.method === "PUT" && /instances\/.*\/status/.test(request.path)) writes++;
      return await inner.request(request);
    },
  });
  return using({ clouds, transport }, async (world) => {
    await world.pool("rack", {});
    await world.clock.run(10 * MINUTE);
    const before = writes;
    const asked = world.equinix.counters();
    await world.clock.run(30 * MINUTE);
    // An order is announced before each try; nothing else is written.
    assert.ok(writes - before <= 60, `${writes - before} writes in 30 minutes`);
    assert.ok(asked);
  });
});

test("any text in any provider's refusal leaves without secrets and control characters", async () => {
  let detail = "";
  const clouds: HarvesterWorldOptions["clouds"] = (inner) => async (request) => {
    const order = request.method === "POST" && request.url.includes("/devices");
    return order ? json(422, { errors: [detail] }) : await inner(request);
  };
  const text = fc.string({ maxLength: 40, unit: "binary" });
  const echo = fc.constantFrom(...ECHOES.slice(0, 6).map(([, encode]) => encode));
  await using({ clouds }, async (world) => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(text, echo, text, async (before, encode, after) => {
        detail = `${before} ${encode(EXAMPLE_KEYS.equinix.token)} ${after}`;
        await world.pool(`rack-${count++}`, {});
        await world.clock.run(MINUTE);
        assertClean(await said(world), EXAMPLE_KEYS.equinix.token);
      }),
      { numRuns: 20 },
    );
  });
});
