import type { ApiRequest } from "@slipway/kube";
import { CONFIG_MAPS, DEFINITIONS, WIDGETS, widgets } from "../testing.ts";
import { type Doubling, repeated } from "./doubling.ts";

const PODS = "/api/v1/namespaces/default/pods";
const DEFINED: ApiRequest = { method: "POST", path: DEFINITIONS, body: widgets };

const configMap = (run: number, more: string): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m${run}"},${more}}`;
const widget = (run: number, more: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w${run}"},${more}}`;
const pod = (run: number, more: string): string =>
  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p${run}"},"spec":{"containers":[{"name":"a","image":"a"}],${more}}}`;

const post = (path: string, body: string, query: Record<string, string> = {}): ApiRequest => ({
  method: "POST",
  path,
  body,
  query,
});

/** A member of a long name, of twice the length for twice the number. */
const longKey = (n: number): string => JSON.stringify("k".repeat(8 * n));
const nested = (depth: number, inner: string): string => `${'{"nested":'.repeat(depth)}${inner}${"}".repeat(depth)}`;

/** JSON texts that say too much, or the wrong thing. */
export const jsonBodies: readonly Doubling[] = [
  ...["Warn", "Strict", "Ignore"].flatMap((mode): Doubling[] => [
    {
      name: `unknown keys of a built-in kind, ${mode}`,
      n: 30_000,
      request: (n, run) =>
        post(
          CONFIG_MAPS,
          configMap(
            run,
            repeated(n, (i) => `"unknown${i}":1`),
          ),
          { fieldValidation: mode },
        ),
      status: mode === "Strict" ? 400 : 201,
    },
    {
      name: `unknown keys of a custom kind, ${mode}`,
      n: 20_000,
      given: () => [DEFINED],
      request: (n, run) =>
        post(WIDGETS, widget(run, `"spec":{${repeated(n, (i) => `"unknown${i}":1`)}}`), { fieldValidation: mode }),
      status: mode === "Strict" ? 400 : 201,
    },
  ]),
  {
    name: "unknown keys below the items of a list",
    n: 8_000,
    request: (n, run) =>
      post(PODS, pod(run, `"tolerations":[${repeated(n, (i) => `{"key":"k","operator":"Exists","u${i}":1}`)}]`)),
    status: 201,
  },
  {
    name: "unknown keys below a key of great length",
    n: 10_000,
    given: () => [DEFINED],
    request: (n, run) =>
      post(WIDGETS, widget(run, `"metadata2":1,"spec":{${longKey(n)}:{${repeated(n, (i) => `"u${i}":1`)}}}`)),
    status: 201,
  },
  {
    name: "keys that stand twice, each another",
    n: 15_000,
    request: (n, run) => post(CONFIG_MAPS, configMap(run, `"data":{${repeated(n, (i) => `"k${i}":"","k${i}":""`)}}`)),
    status: 201,
  },
  {
    name: "keys that stand twice in an unknown field of a custom kind",
    n: 15_000,
    given: () => [DEFINED],
    request: (n, run) => post(WIDGETS, widget(run, `"spec":{"u":{${repeated(n, (i) => `"k${i}":"","k${i}":""`)}}}`)),
    status: 201,
  },
  {
    name: "one key again and again",
    n: 60_000,
    request: (n, run) => post(CONFIG_MAPS, configMap(run, `"data":{${repeated(n, () => `"k":""`)}}`)),
    status: 201,
  },
  {
    name: "keys that stand twice, deep down below a key of great length",
    n: 10_000,
    request: (n, run) =>
      post(
        CONFIG_MAPS,
        configMap(run, `"data":{${longKey(n)}:${nested(200, `{${repeated(n, (i) => `"k${i}":"","k${i}":""`)}}`)}}`),
      ),
    status: 400,
  },
  {
    name: "brackets",
    n: 400_000,
    request: (n) => post(CONFIG_MAPS, `${"[".repeat(n)}${"]".repeat(n)}`),
    status: 400,
  },
  {
    name: "brackets that are not closed",
    n: 800_000,
    request: (n) => post(CONFIG_MAPS, "[".repeat(n)),
    status: 400,
  },
  {
    name: "brackets of objects",
    n: 100_000,
    request: (n) => post(CONFIG_MAPS, `${'{"a":'.repeat(n)}1${"}".repeat(n)}`),
    status: 400,
  },
  {
    name: "values below many levels",
    n: 40_000,
    request: (n, run) =>
      post(CONFIG_MAPS, configMap(run, `"x":${nested(400, `[${repeated(n, (i) => `{"u${i}":1}`)}]`)}`)),
    status: 201,
  },
  {
    name: "space",
    n: 500_000,
    request: (n, run) => post(CONFIG_MAPS, configMap(run, `${" ".repeat(n)}"data":{}${"\n".repeat(n)}`)),
    status: 201,
  },
  {
    name: "digits of a number",
    n: 200_000,
    request: (n, run) => post(CONFIG_MAPS, configMap(run, `"x":${"1".repeat(n)}`)),
    status: 201,
  },
  {
    name: "escapes of a text",
    n: 200_000,
    request: (n, run) =>
      post(CONFIG_MAPS, configMap(run, `"data":{"k":"${'\\"'.repeat(n)}","l":"${"\\\\".repeat(n)}"}`)),
    status: 201,
  },
  {
    name: "values before a mistake",
    n: 200_000,
    request: (n, run) => post(CONFIG_MAPS, configMap(run, `"x":[${repeated(n, () => "1")}!]`)),
    status: 400,
  },
  {
    name: "values of the wrong type in a built-in kind",
    n: 30_000,
    request: (n, run) => post(CONFIG_MAPS, configMap(run, `"data":{${repeated(n, (i) => `"k${i}":{}`)}}`)),
    status: 400,
  },
  {
    name: "the digits of a quantity",
    n: 100_000,
    request: (n, run) =>
      post(
        PODS,
        `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p${run}"},"spec":{"containers":[{"name":"a","image":"a","resources":{"limits":{"cpu":"${"1".repeat(n)}x"}}}]}}`,
      ),
    status: 400,
  },
  {
    name: "the spaces of a quantity",
    n: 100_000,
    request: (n, run) =>
      post(
        PODS,
        `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p${run}"},"spec":{"containers":[{"name":"a","image":"a","resources":{"limits":{"cpu":"${" ".repeat(n)}x${" ".repeat(n)}"}}}]}}`,
      ),
    status: 400,
  },
  {
    name: "the letters of base64",
    n: 400_000,
    request: (n, run) =>
      post(
        "/api/v1/namespaces/default/secrets",
        `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s${run}"},"data":{"a":"${"A".repeat(n)}!"}}`,
      ),
    status: 400,
  },
  {
    name: "the line ends of base64",
    n: 100_000,
    request: (n, run) =>
      post(
        "/api/v1/namespaces/default/secrets",
        `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s${run}"},"data":{"a":"${"\\nAAAA".repeat(n)}"}}`,
      ),
    status: 201,
  },
  {
    name: "the fraction of a time",
    n: 300_000,
    request: (n, run) =>
      post(
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l${run}"},"spec":{"renewTime":"2026-01-01T00:00:00.${"1".repeat(n)}"}}`,
      ),
    status: 400,
  },
];
