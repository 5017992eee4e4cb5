import type { ApiRequest } from "@slipway/kube";
import { CONFIG_MAPS, DEFINITIONS, WIDGETS, widgets } from "../testing.ts";
import { type Doubling, repeated } from "./doubling.ts";

const PODS = "/api/v1/namespaces/default/pods";
const JSON_PATCH = "application/json-patch+json";
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";

const patch = (path: string, contentType: string, body: string, query: Record<string, string> = {}): ApiRequest => ({
  method: "PATCH",
  path: `${path}/o`,
  contentType,
  body,
  // The object stays as it is for the next run.
  query: { dryRun: "All", fieldManager: "me", ...query },
});
const post = (path: string, body: string): ApiRequest => ({
  method: "POST",
  path,
  body,
  query: { fieldManager: "other" },
});
const configMap = (data: string): ApiRequest =>
  post(CONFIG_MAPS, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o"},"data":{${data}}}`);
const keys = (n: number, value = '"v"'): string => repeated(n, (i) => `"k${i}":${value}`);

const open = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: {
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, port: { type: "integer" } },
          },
        },
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      },
    },
  },
};
const DEFINED: ApiRequest = {
  method: "POST",
  path: DEFINITIONS,
  body: {
    ...widgets,
    spec: {
      ...widgets.spec,
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: open } }],
    },
  },
};
const WIDGET = '"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"o"}';
const widget = (spec: string): readonly ApiRequest[] => [DEFINED, post(WIDGETS, `{${WIDGET},"spec":{${spec}}}`)];
const ports = (n: number, port = 1): string => `"ports":[${repeated(n, (i) => `{"name":"p${i}","port":${port}}`)}]`;
const set = (n: number): string => `"set":[${repeated(n, (i) => `"v${i}"`)}]`;
const list = (n: number): string => `"l":[${repeated(n, () => "1")}]`;

const env = (n: number, value = "v"): string => repeated(n, (i) => `{"name":"E${i}","value":"${value}"}`);
const pod = (containers: string): ApiRequest =>
  post(PODS, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"o"},"spec":{"containers":[${containers}]}}`);
const withEnv = (n: number): readonly ApiRequest[] => [pod(`{"name":"a","image":"a","env":[${env(n)}]}`)];
const ofEnv = (more: string): string => `{"spec":{"containers":[{"name":"a",${more}}]}}`;
const finalized = (n: number): ApiRequest =>
  post(
    CONFIG_MAPS,
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o","finalizers":[${repeated(n, (i) => `"example.com/f${i}"`)}]}}`,
  );

/** Patches of each type. */
export const patches: readonly Doubling[] = [
  {
    name: "operations of a JSON patch",
    n: 1_250,
    given: () => [configMap("")],
    request: (n) =>
      patch(
        CONFIG_MAPS,
        JSON_PATCH,
        `[{"op":"add","path":"/data","value":{}},${repeated(n - 1, (i) => `{"op":"add","path":"/data/k${i}","value":"v"}`)}]`,
      ),
    status: 200,
  },
  {
    name: "operations of a JSON patch on a large object",
    n: 4_000,
    // Many keys an operation, and both objects beyond the processor's caches: at their edge each key takes longer.
    given: (n) => [configMap(keys(5 * n))],
    request: (n) =>
      patch(CONFIG_MAPS, JSON_PATCH, `[${repeated(n, (i) => `{"op":"replace","path":"/data/k${i}","value":"w"}`)}]`),
    status: 200,
  },
  {
    name: "insertions at the front of a list by a JSON patch",
    n: 1_250,
    given: (n) => widget(list(40 * n)),
    request: (n) => patch(WIDGETS, JSON_PATCH, `[${repeated(n, () => `{"op":"add","path":"/spec/l/0","value":1}`)}]`),
    status: 200,
  },
  {
    name: "removals from a list by a JSON patch",
    n: 1_250,
    given: (n) => widget(list(40 * n)),
    request: (n) => patch(WIDGETS, JSON_PATCH, `[${repeated(n, () => `{"op":"remove","path":"/spec/l/0"}`)}]`),
    status: 200,
  },
  {
    name: "moves in a JSON patch",
    n: 1_250,
    given: (n) => widget(list(40 * n)),
    request: (n) =>
      patch(WIDGETS, JSON_PATCH, `[${repeated(n, () => `{"op":"move","from":"/spec/l/0","path":"/spec/l/-"}`)}]`),
    status: 200,
  },
  {
    name: "copies in a JSON patch",
    n: 1_250,
    given: (n) => widget(list(n)),
    request: (n) =>
      patch(WIDGETS, JSON_PATCH, `[${repeated(n, (i) => `{"op":"copy","from":"/spec/l/0","path":"/spec/c${i}"}`)}]`),
    status: 200,
  },
  {
    name: "copies of what was copied",
    n: 30,
    given: () => widget(list(10)),
    request: (n) =>
      patch(WIDGETS, JSON_PATCH, `[${repeated(n, (i) => `{"op":"copy","from":"/spec","path":"/spec/c${i}"}`)}]`),
    status: 422,
  },
  {
    name: "copies of a long text",
    n: 1_250,
    given: (n) => widget(`"t":"${"v".repeat(100 * n)}"`),
    request: (n) =>
      patch(WIDGETS, JSON_PATCH, `[${repeated(n, (i) => `{"op":"copy","from":"/spec/t","path":"/spec/c${i}"}`)}]`),
    status: 422,
  },
  {
    name: "tests in a JSON patch",
    n: 1_250,
    // Large enough that a test that goes over the whole would cost many times what the rest does.
    given: (n) => widget(`"m":{${keys(10 * n)}}`),
    request: (n) =>
      patch(
        WIDGETS,
        JSON_PATCH,
        `[${repeated(n, (i) => `{"op":"add","path":"/spec/m/n${i}","value":1},{"op":"test","path":"/spec/l","value":null}`)}]`,
      ),
    status: 200,
  },
  {
    name: "unknown fields of a JSON patch's operations",
    n: 1_250,
    given: () => [configMap("")],
    request: (n) =>
      patch(
        CONFIG_MAPS,
        JSON_PATCH,
        `[{"op":"add","path":"/data","value":{}},${repeated(n - 1, (i) => `{"op":"add","path":"/data/k${i}","value":"v","u${i}":1}`)}]`,
      ),
    status: 200,
  },
  {
    name: "steps of a JSON patch's path",
    n: 10_000,
    given: () => [configMap("")],
    request: (n) => patch(CONFIG_MAPS, JSON_PATCH, `[{"op":"add","path":"${"/a~1~0".repeat(n)}","value":{}}]`),
    status: 422,
  },
  {
    name: "operations that are too many",
    n: 20_000,
    given: () => [configMap("")],
    request: (n) => patch(CONFIG_MAPS, JSON_PATCH, `[${repeated(n, () => `{"op":"add","path":"/data","value":{}}`)}]`),
    status: 413,
  },
  {
    name: "keys of a merge patch",
    n: 10_000,
    given: () => [configMap("")],
    request: (n) => patch(CONFIG_MAPS, MERGE, `{"data":{${keys(n)}}}`),
    status: 200,
  },
  {
    name: "nulls of a merge patch",
    n: 10_000,
    given: (n) => [configMap(keys(n))],
    request: (n) => patch(CONFIG_MAPS, MERGE, `{"data":{${keys(n, "null")}}}`),
    status: 200,
  },
  {
    name: "unknown keys of a merge patch",
    n: 20_000,
    given: () => [configMap("")],
    request: (n) => patch(CONFIG_MAPS, MERGE, `{"nothing":{${keys(n)}},${keys(n)}}`),
    status: 200,
  },
  {
    name: "keys that stand twice in a merge patch",
    n: 20_000,
    given: () => [configMap("")],
    request: (n) => patch(CONFIG_MAPS, MERGE, `{"data":{${keys(n)},${keys(n)}}}`),
    status: 200,
  },
  {
    name: "items of a strategic merge patch",
    n: 2_000,
    given: (n) => withEnv(n),
    request: (n) => patch(PODS, STRATEGIC, ofEnv(`"env":[${env(n)}]`)),
    status: 200,
  },
  {
    name: "new items of a strategic merge patch",
    n: 1_000,
    given: () => [pod(`{"name":"a","image":"a"}`)],
    request: (n) => patch(PODS, STRATEGIC, ofEnv(`"env":[${env(n)}]`)),
    status: 422,
  },
  {
    name: "items deleted by a strategic merge patch",
    n: 2_000,
    given: (n) => withEnv(n),
    request: (n) =>
      patch(PODS, STRATEGIC, ofEnv(`"env":[${repeated(n, (i) => `{"name":"E${i}","$patch":"delete"}`)}]`)),
    status: 422,
  },
  {
    name: "the order of a strategic merge patch",
    n: 2_000,
    given: (n) => withEnv(n),
    request: (n) =>
      patch(PODS, STRATEGIC, ofEnv(`"$setElementOrder/env":[${repeated(n, (i) => `{"name":"E${n - 1 - i}"}`)}]`)),
    status: 422,
  },
  {
    name: "an order that a strategic merge patch breaks",
    n: 2_000,
    given: (n) => withEnv(n),
    request: (n) =>
      patch(
        PODS,
        STRATEGIC,
        ofEnv(`"env":[${env(n)}],"$setElementOrder/env":[${repeated(n, (i) => `{"name":"E${n - 1 - i}"}`)}]`),
      ),
    status: 500,
  },
  {
    name: "values deleted by a strategic merge patch",
    n: 5_000,
    given: (n) => [finalized(n)],
    request: (n) =>
      patch(
        CONFIG_MAPS,
        STRATEGIC,
        `{"metadata":{"$deleteFromPrimitiveList/finalizers":[${repeated(n, (i) => `"example.com/f${i}"`)}]}}`,
      ),
    status: 200,
  },
  {
    name: "values added by a strategic merge patch",
    n: 3_000,
    given: (n) => [finalized(n)],
    request: (n) =>
      patch(CONFIG_MAPS, STRATEGIC, `{"metadata":{"finalizers":[${repeated(n, (i) => `"example.com/g${i}"`)}]}}`),
    status: 200,
  },
  {
    name: "keys retained by a strategic merge patch",
    n: 10_000,
    given: (n) => [configMap(keys(n))],
    request: (n) => patch(CONFIG_MAPS, STRATEGIC, `{"data":{"$retainKeys":[${repeated(n, (i) => `"k${i}"`)}]}}`),
    status: 200,
  },
  {
    name: "keys of an apply that creates",
    n: 4_000,
    request: (n) =>
      patch(CONFIG_MAPS, APPLY, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o"},"data":{${keys(n)}}}`),
    status: 201,
  },
  {
    name: "keys of an apply",
    n: 4_000,
    given: (n) => [configMap(keys(n))],
    request: (n) =>
      patch(CONFIG_MAPS, APPLY, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o"},"data":{${keys(n)}}}`),
    status: 200,
  },
  {
    name: "keys of an apply by force",
    n: 4_000,
    given: (n) => [configMap(keys(n))],
    request: (n) =>
      patch(
        CONFIG_MAPS,
        APPLY,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o"},"data":{${keys(n, '"w"')}}}`,
        { force: "true" },
      ),
    status: 200,
  },
  {
    name: "conflicts of an apply",
    n: 4_000,
    given: (n) => [configMap(keys(n))],
    request: (n) =>
      patch(
        CONFIG_MAPS,
        APPLY,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o"},"data":{${keys(n, '"w"')}}}`,
      ),
    status: 409,
  },
  {
    name: "conflicts of an apply below a key of great length",
    n: 3_000,
    given: (n) => widget(`"${"k".repeat(8 * n)}":{${keys(n)}}`),
    request: (n) => patch(WIDGETS, APPLY, `{${WIDGET},"spec":{"${"k".repeat(8 * n)}":{${keys(n, '"w"')}}}}`),
    status: 409,
  },
  {
    name: "items of an apply",
    n: 2_000,
    given: (n) => widget(ports(n)),
    request: (n) => patch(WIDGETS, APPLY, `{${WIDGET},"spec":{${ports(n)}}}`),
    status: 200,
  },
  {
    name: "items of an apply that stand twice",
    n: 3_000,
    given: () => widget(""),
    request: (n) => patch(WIDGETS, APPLY, `{${WIDGET},"spec":{"ports":[${repeated(n, () => `{"name":"p"}`)}]}}`),
    status: 500,
  },
  {
    name: "items of an apply in the other order",
    n: 2_000,
    given: (n) => widget(ports(n)),
    request: (n) =>
      patch(
        WIDGETS,
        APPLY,
        `{${WIDGET},"spec":{"ports":[${repeated(n, (i) => `{"name":"p${n - 1 - i}","port":2}`)}]}}`,
        { force: "true" },
      ),
    status: 200,
  },
  {
    name: "conflicting items of an apply",
    n: 2_000,
    given: (n) => widget(ports(n)),
    request: (n) => patch(WIDGETS, APPLY, `{${WIDGET},"spec":{${ports(n, 2)}}}`),
    status: 409,
  },
  {
    name: "values of an apply's set",
    n: 4_000,
    given: (n) => widget(set(n)),
    request: (n) => patch(WIDGETS, APPLY, `{${WIDGET},"spec":{${set(n)}}}`),
    status: 200,
  },
  {
    name: "values that are wrong in an apply",
    n: 4_000,
    given: () => widget(""),
    request: (n) => patch(WIDGETS, APPLY, `{${WIDGET},"spec":{"set":[${repeated(n, (i) => `${i}`)}]}}`),
    status: 500,
  },
  {
    name: "levels of an apply",
    n: 4_000,
    given: () => widget(""),
    request: (n) => patch(WIDGETS, APPLY, `{${WIDGET},"spec":${'{"a":'.repeat(80)}{${keys(n)}}${"}".repeat(80)}}`),
    status: 200,
  },
  {
    name: "unknown keys of an apply",
    n: 10_000,
    request: (n) =>
      patch(CONFIG_MAPS, APPLY, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o"},${keys(n)}}`),
    status: 500,
  },
  {
    name: "managed fields of an update",
    n: 2_000,
    given: () => [configMap("")],
    request: (n) => ({
      method: "PUT",
      path: `${CONFIG_MAPS}/o`,
      query: { dryRun: "All" },
      body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o","managedFields":[${repeated(n, (i) => `{"manager":"m${i}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:data":{"f:k${i}":{}}}}`)}]}}`,
    }),
    status: 200,
  },
  {
    name: "fields of an owner",
    n: 4_000,
    given: () => [configMap("")],
    request: (n) => ({
      method: "PUT",
      path: `${CONFIG_MAPS}/o`,
      query: { dryRun: "All" },
      body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o","managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{${repeated(n, (i) => `"f:k${i}":{}`)}}}}]}}`,
    }),
    status: 200,
  },
  {
    name: "what kubectl applied last",
    n: 3_000,
    given: (n) => [
      post(
        CONFIG_MAPS,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o","annotations":{"kubectl.kubernetes.io/last-applied-configuration":${JSON.stringify(`{"data":{${keys(n)}}}`)}}},"data":{${keys(n)}}}`,
      ),
    ],
    request: (n) =>
      patch(
        CONFIG_MAPS,
        APPLY,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o"},"data":{${keys(n, '"w"')}}}`,
        { fieldManager: "kubectl" },
      ),
    status: 200,
  },
  {
    name: "keys of an update",
    n: 5_000,
    given: (n) => [configMap(keys(n))],
    request: (n, run) => ({
      method: "PUT",
      path: `${CONFIG_MAPS}/o`,
      body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o"},"data":{${keys(n, `"r${run}"`)}}}`,
    }),
    status: 200,
  },
  {
    name: "items of an update",
    n: 2_000,
    given: (n) => widget(ports(n)),
    request: (n, run) => patch(WIDGETS, MERGE, `{"spec":{${ports(n, run + 2)}}}`),
    status: 200,
  },
];
