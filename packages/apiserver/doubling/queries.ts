import type { ApiRequest } from "@slipway/kube";
import { CONFIG_MAPS, DEFINITIONS, WIDGETS, widgets } from "../testing.ts";
import { type Doubling, repeated } from "./doubling.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

const get = (path: string, query: Record<string, string> = {}, accept?: string): ApiRequest => ({
  method: "GET",
  path,
  query,
  ...(accept !== undefined && { accept }),
});

const configMaps = (n: number): ApiRequest[] =>
  Array.from({ length: n }, (_, i) => ({
    method: "POST",
    path: CONFIG_MAPS,
    body: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `m${i}`, labels: { app: "web" } },
      data: { a: "b" },
    },
  }));

const [version] = widgets.spec.versions;
const printed = {
  ...widgets,
  spec: {
    ...widgets.spec,
    versions: [
      {
        ...version,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        additionalPrinterColumns: [
          { name: "All", type: "string", jsonPath: ".spec.ports[*].name" },
          { name: "Below", type: "string", jsonPath: ".spec..name" },
          { name: "Chosen", type: "string", jsonPath: '.spec.ports[?(@.name=="p1")].name' },
          { name: "Wide", type: "string", priority: 1, jsonPath: ".spec.ports" },
        ],
      },
    ],
  },
};

/** Requests without bodies: what their queries say, and what they answer with. */
export const queries: readonly Doubling[] = [
  {
    name: "requirements of a label selector",
    n: 2_000,
    request: (n) => get(CONFIG_MAPS, { labelSelector: repeated(n, (i) => `k${i}=v`) }),
    status: 200,
  },
  {
    name: "values of a label selector",
    n: 2_000,
    request: (n) => get(CONFIG_MAPS, { labelSelector: `k in (${repeated(n, (i) => `v${i}`)})` }),
    status: 200,
  },
  {
    name: "terms of a field selector",
    n: 2_000,
    request: (n) => get(CONFIG_MAPS, { fieldSelector: repeated(n, (i) => `metadata.name!=m${i}`) }),
    status: 200,
  },
  {
    name: "backslashes of a field selector",
    n: 20_000,
    request: (n) => get(CONFIG_MAPS, { fieldSelector: `metadata.name=${"\\\\".repeat(n)},metadata.name=a` }),
    status: 200,
  },
  {
    name: "letters of a continue token",
    n: 50_000,
    request: (n) => get(CONFIG_MAPS, { limit: "1", continue: "a".repeat(n) }),
    status: 400,
  },
  { name: "objects of a list", n: 500, given: configMaps, request: () => get(CONFIG_MAPS), status: 200 },
  {
    name: "rows of a table",
    n: 500,
    given: configMaps,
    request: () => get(CONFIG_MAPS, {}, TABLE),
    status: 200,
  },
  {
    name: "items in the columns of a table",
    n: 2_000,
    given: (n) => [
      { method: "POST", path: DEFINITIONS, body: printed },
      {
        method: "POST",
        path: WIDGETS,
        body: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"ports":[${repeated(n, (i) => `{"name":"p${i}"}`)}]}}`,
      },
    ],
    request: () => get(WIDGETS, {}, TABLE),
    status: 200,
  },
  {
    name: "objects of a collection that is deleted",
    n: 300,
    given: configMaps,
    request: () => ({ method: "DELETE", path: CONFIG_MAPS, query: { dryRun: "All" } }),
    status: 200,
  },
  {
    name: "objects of a collection that is deleted for good",
    n: 300,
    // One half for each run.
    given: (n) =>
      Array.from({ length: 2 * n }, (_, i) => ({
        method: "POST",
        path: CONFIG_MAPS,
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `m${i}`, labels: { run: `r${i % 2}` } } },
      })),
    request: (_, run) => ({ method: "DELETE", path: CONFIG_MAPS, query: { labelSelector: `run=r${run}` } }),
    status: 200,
  },
];
