import type { ServedResource } from "../model/served.ts";
import { age, serve } from "./serve.ts";

export const serviceAccount: ServedResource = serve({
  apiVersion: "v1",
  kind: "ServiceAccount",
  answersDeleted: true,
  description: "An identity for processes in Pods.",
  shortNames: ["sa"],
  namespaced: true,
  columns: [age],
});
