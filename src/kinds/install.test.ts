import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client } from "@slipway/kube";
import { crdOf } from "./crd.ts";
import { installCrds, installOwnCrds } from "./install.ts";
import { madeUp } from "./testing.ts";

const BOATS = "boats.example.com";
const SHIPS = "ships.example.com";

interface Held {
  managers: string[];
  spec?: object;
  labels?: Record<string, string>;
  conditions: { type: string; status: string; message?: string }[];
}

/** An API that has these definitions; how those come to be established is the test's to say. */
function stage(held: Record<string, Held> = {}) {
  const clock = new VirtualClock();
  const applied: string[] = [];
  let looks = 0;
  const object = (name: string) =>
    held[name] && {
      metadata: {
        name,
        labels: held[name].labels,
        managedFields: held[name].managers.map((manager) => ({ manager, operation: "Apply" })),
      },
      spec: held[name].spec ?? {},
      status: { conditions: held[name].conditions },
    };
  const client = {
    find: async (_kind: unknown, { name }: { name: string }) => object(name),
    get: async (_kind: unknown, { name }: { name: string }) => {
      looks++;
      return object(name);
    },
    patch: async (_kind: unknown, { name }: { name: string }) => {
      applied.push(name);
      held[name] ??= { managers: ["slipway"], conditions: [] };
    },
  } as unknown as Client;
  const { signal } = new AbortController();
  const establish = (name: string): void => void held[name]!.conditions.push({ type: "Established", status: "True" });
  return { clock, client, signal, applied, establish, held, looks: () => looks };
}

const KINDS = [[madeUp("Boat")], [madeUp("Ship")]];

test("definitions are installed when the API serves every one of them, and looked at a few times a second until then", async () => {
  const { clock, client, signal, applied, establish, looks } = stage();
  let isDone = false;
  const installed = installCrds(client, clock, signal, KINDS).then(() => {
    isDone = true;
  });
  await clock.run(1_000);
  assert.deepEqual(applied, [BOATS, SHIPS]);
  assert.ok(looks() > 4 && looks() < 100, `${looks()} looks in a second`);
  establish(BOATS);
  await clock.run(1_000);
  assert.equal(isDone, false);
  establish(SHIPS);
  await clock.run(1_000);
  assert.equal(isDone, true);
  await installed;
});

test("one that the API does not serve in half a minute is named with the API's reason", async () => {
  const { clock, client, signal, held } = stage();
  const refused = assert.rejects(installCrds(client, clock, signal, [[madeUp("Boat")]]), (error) => {
    assert.ok(isFault(error, "Timeout"));
    assert.equal(error.message, `CustomResourceDefinition/${BOATS}: not established: the name is taken`);
    return true;
  });
  await clock.run(1_000);
  held[BOATS]!.conditions.push({ type: "NamesAccepted", status: "False", message: "the name is taken" });
  await clock.run(30_000);
  await refused;
});

test("a definition of another owner stays as it is, one with a field of ours and a missing one are installed", async () => {
  const established = [{ type: "Established", status: "True" }];
  const foreign = stage({ [BOATS]: { managers: ["metal3", "kubectl"], conditions: established } });
  const installed = installOwnCrds(foreign.client, foreign.clock, foreign.signal, KINDS);
  await foreign.clock.run(1_000);
  foreign.establish(SHIPS);
  await foreign.clock.run(1_000);
  await installed;
  assert.deepEqual(foreign.applied, [SHIPS]);

  const own = stage({ [BOATS]: { managers: ["kubectl", "slipway"], conditions: established } });
  await installOwnCrds(own.client, own.clock, own.signal, [[madeUp("Boat")]]);
  assert.deepEqual(own.applied, [BOATS]);
});

test("a definition is written where it is not what was applied: changed by somebody, of an earlier release, or another manager's", async () => {
  const [boat, ship] = KINDS;
  const conditions = [{ type: "Established", status: "True" }];
  const spec = { ...crdOf(boat!).spec, conversion: { strategy: "None" } };
  const asApplied: Held = { managers: ["kubectl", "slipway"], spec, conditions };
  const applied = async (held: Held): Promise<string[]> => {
    const api = stage({ [BOATS]: held });
    await installCrds(api.client, api.clock, api.signal, [boat!]);
    return api.applied;
  };
  assert.deepEqual(await applied(asApplied), []);
  assert.deepEqual(await applied({ ...asApplied, managers: ["kubectl"] }), [BOATS]);
  assert.deepEqual(await applied({ ...asApplied, labels: { "of-an-earlier": "release" } }), [BOATS]);
  assert.deepEqual(await applied({ ...asApplied, spec: { ...spec, versions: [] } }), [BOATS]);
  assert.deepEqual(await applied({ ...asApplied, spec: { ...crdOf(ship!).spec } }), [BOATS]);
});
