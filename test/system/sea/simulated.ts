import { ConfigMap } from "@slipway/kube/core";
import type { Counterpart } from "../../../src/systems/counterpart.ts";
import { HARBOUR } from "./harbour.ts";

export const counterpart: Counterpart = {
  title: "Harbour",
  async start({ client }) {
    await client.create(ConfigMap, { metadata: HARBOUR, data: { call: "captain" } });
    return { join: async () => ({ is: "refused", reason: "it floats" }), powerLost() {}, close() {} };
  },
  leftOvers: async () => [],
};
