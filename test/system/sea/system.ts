/** A system as small as one can be, which only tests add: buoys that say what their harbour calls out. */
import { DONE, setCondition, source } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { z } from "zod";
import { Conditions } from "../../../src/kinds/condition.ts";
import { defineKind } from "../../../src/kinds/kind.ts";
import { system } from "../../../src/systems/system.ts";
import { HARBOUR } from "./harbour.ts";

export const Buoy = defineKind({
  group: "sea.example.com",
  version: "v1",
  kind: "Buoy",
  plural: "buoys",
  namespaced: false,
  description: "Marks a channel.",
  spec: z.object({ colour: z.string().optional() }),
  status: z.object({
    observedGeneration: z.int().optional(),
    greeting: z.string().optional(),
    conditions: Conditions.optional(),
  }),
  columns: [{ name: "Greeting", type: "string", jsonPath: ".status.greeting" }],
});

export const sea = system({
  name: "sea",
  summary: "buoys that answer",
  kinds: [[Buoy]],
  settings: z.strictObject({
    word: z.string().default("ahoy").describe("what a buoy answers").meta({ env: "WORD", flag: "--word <word>" }),
  }),
  counts: [{ name: "slipway_buoys", help: "Buoys", label: "state", kind: Buoy, valueOf: () => "afloat" }],
  examples: "src/systems/sea/examples",
  simulated: () => import("./simulated.ts"),
  parts: ({ clock }, { word }) => ({
    controllers: [
      {
        name: "buoy",
        system: "sea",
        sources: [source({ resource: Buoy })],
        access: [
          { resource: Buoy, verbs: ["update"], subresource: "status" },
          { resource: ConfigMap, verbs: ["get"], namespace: HARBOUR.namespace, names: [HARBOUR.name] },
        ],
        async reconcile(ref, { cache, client }) {
          const buoy = cache.get(Buoy, ref);
          if (buoy === undefined || buoy.status?.greeting !== undefined) return DONE;
          const harbour = await client.get(ConfigMap, HARBOUR);
          const greeting = `${word}, ${harbour.data?.call}`;
          const ready = { type: "Ready", status: "True", reason: "Answered", message: greeting } as const;
          const generation = buoy.metadata.generation!;
          const conditions = setCondition([], { ...ready, observedGeneration: generation }, clock.now());
          await client.updateStatus(Buoy, {
            ...buoy,
            status: { observedGeneration: generation, greeting, conditions },
          });
          return DONE;
        },
      },
    ],
  }),
});
