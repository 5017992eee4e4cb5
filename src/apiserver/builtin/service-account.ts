import type { ServedResource } from "../served.ts";
import { objectsAt } from "./read.ts";
import { bool, keyed, listOf, localReference, objectReference } from "./schema-words.ts";
import { age, column, serve } from "./serve.ts";

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
  columns: [column("Secrets", (object) => objectsAt(object, "secrets").length), age],
});
