import type { ServedResource } from "../served.ts";
import { bool, keyed, listOf, localReference, objectReference } from "./schema-words.ts";
import { age, serve } from "./serve.ts";

export const serviceAccount: ServedResource = serve({
  apiVersion: "v1",
  kind: "ServiceAccount",
  answersDeleted: true,
  description: "An identity for processes in Pods.",
  shortNames: ["sa"],
  namespaced: true,
  members: {
    secrets: keyed(objectReference, "name"),
    imagePullSecrets: listOf(localReference),
    automountServiceAccountToken: bool,
  },
  columns: [age],
});
