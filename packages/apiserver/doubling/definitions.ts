import type { ApiRequest } from "@slipway/kube";
import { DEFINITIONS } from "../testing.ts";
import { type Doubling, repeated } from "./doubling.ts";

const definition = (run: number, properties: string, more = ""): ApiRequest => ({
  method: "POST",
  path: DEFINITIONS,
  body: `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things${run}.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things${run}","kind":"Thing${run}"${more.startsWith("NAMES") ? more.slice(5) : ""}},"versions":[{"name":"v1","served":true,"storage":true${more.startsWith("NAMES") ? "" : more},"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",${properties}}}}}}]}}`,
});

const ofPatterns = (n: number): string =>
  `"properties":{${repeated(n, (i) => `"p${i}":{"type":"string","pattern":"^p${i}$"}`)}}`;
/** The first object of a run's kind: what of its schema is made ready when it is used is made ready for it. */
const firstObject = (run: number, spec: string): ApiRequest => ({
  method: "POST",
  path: `/apis/example.com/v1/namespaces/default/things${run}`,
  body: `{"apiVersion":"example.com/v1","kind":"Thing${run}","metadata":{"name":"o"},"spec":${spec}}`,
});

/** Definitions, and the first objects of the kinds that they define. */
export const definitionBodies: readonly Doubling[] = [
  {
    name: "properties of a definition",
    n: 2_000,
    request: (n, run) => definition(run, `"properties":{${repeated(n, (i) => `"p${i}":{"type":"string"}`)}}`),
    status: 201,
  },
  {
    name: "wrong properties of a definition",
    n: 2_000,
    request: (n, run) => definition(run, `"properties":{${repeated(n, (i) => `"p${i}":{"type":"strong"}`)}}`),
    status: 422,
  },
  {
    name: "unknown words of a definition",
    n: 4_000,
    request: (n, run) => definition(run, `"properties":{"a":{"type":"string",${repeated(n, (i) => `"w${i}":1`)}}}`),
    status: 201,
  },
  {
    name: "required fields of a definition",
    n: 10_000,
    request: (n, run) => definition(run, `"required":[${repeated(n, (i) => `"p${i}"`)}]`),
    status: 201,
  },
  {
    name: "enum of a definition",
    n: 10_000,
    request: (n, run) =>
      definition(run, `"properties":{"a":{"type":"string","enum":[${repeated(n, (i) => `"e${i}"`)}]}}`),
    status: 201,
  },
  {
    name: "defaults of a definition",
    n: 2_000,
    request: (n, run) =>
      definition(run, `"properties":{${repeated(n, (i) => `"p${i}":{"type":"string","default":"d"}`)}}`),
    status: 201,
  },
  {
    name: "a large default of a definition",
    n: 4_000,
    request: (n, run) =>
      definition(
        run,
        `"properties":{"a":{"type":"array","items":{"type":"string"},"default":[${repeated(n, (i) => `"d${i}"`)}]}}`,
      ),
    status: 201,
  },
  {
    name: "columns of a definition",
    n: 2_000,
    request: (n, run) =>
      definition(
        run,
        `"properties":{}`,
        `,"additionalPrinterColumns":[${repeated(n, (i) => `{"name":"c${i}","type":"string","jsonPath":".spec.a"}`)}]`,
      ),
    status: 201,
  },
  {
    name: "keys of a list in a definition",
    n: 2_000,
    request: (n, run) =>
      definition(
        run,
        `"properties":{"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":[${repeated(n, (i) => `"k${i}"`)}],"items":{"type":"object","required":[${repeated(n, (i) => `"k${i}"`)}],"properties":{${repeated(n, (i) => `"k${i}":{"type":"string"}`)}}}}}`,
      ),
    status: 201,
  },
  {
    name: "repeated keys of a list in a definition",
    n: 4_000,
    request: (n, run) =>
      definition(
        run,
        `"properties":{"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":[${repeated(n, () => `"k"`)}],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}}}`,
      ),
    status: 422,
  },
  {
    name: "alternatives of a definition",
    n: 1_000,
    request: (n, run) =>
      definition(run, `"properties":{"a":{"type":"string","anyOf":[${repeated(n, (i) => `{"pattern":"^p${i}$"}`)}]}}`),
    status: 201,
  },
  {
    name: "letters of a definition's pattern",
    n: 2_000,
    request: (n, run) => definition(run, `"properties":{"a":{"type":"string","pattern":"${"a?".repeat(n)}"}}`),
    status: 201,
  },
  {
    name: "patterns that are used for the first time",
    n: 300,
    given: (n) => [0, 1].map((run) => definition(run, ofPatterns(n))),
    request: (n, run) => firstObject(run, `{${repeated(n, (i) => `"p${i}":"p${i}"`)}}`),
    status: 201,
  },
  {
    name: "alternatives that are used for the first time",
    n: 1_000,
    given: (n) =>
      [0, 1].map((run) =>
        definition(
          run,
          `"properties":{"a":{"type":"string","anyOf":[${repeated(n, (i) => `{"pattern":"^p${i}$"}`)},{"minLength":1}]}}`,
        ),
      ),
    request: (_, run) => firstObject(run, '{"a":"b"}'),
    status: 201,
  },
  {
    name: "rules that are used for the first time",
    n: 200,
    given: (n) =>
      [0, 1].map((run) =>
        definition(
          run,
          `"properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[${repeated(n, (i) => `{"rule":"self.a > ${i}"}`)}]`,
        ),
      ),
    request: (_, run) => firstObject(run, '{"a":1000000}'),
    status: 201,
  },
  {
    name: "rules of a definition",
    n: 200,
    request: (n, run) =>
      definition(
        run,
        `"properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[${repeated(n, (i) => `{"rule":"self.a > ${i}"}`)}]`,
      ),
    status: 201,
  },
  {
    name: "letters of a definition's rule",
    n: 300,
    request: (n, run) =>
      definition(
        run,
        `"properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"${repeated(n, (i) => `self.a != ${i}`, " && ")}"}]`,
      ),
    status: 201,
  },
  {
    name: "short names of a definition",
    n: 10_000,
    request: (n, run) =>
      definition(
        run,
        `"properties":{}`,
        `NAMES,"shortNames":[${repeated(n, (i) => `"s${i}x${run}"`)}],"categories":[${repeated(n, (i) => `"c${i}"`)}]`,
      ),
    status: 201,
  },
  {
    name: "versions of a definition",
    n: 500,
    request: (n, run) => ({
      ...definition(run, ""),
      body: `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things${run}.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things${run}","kind":"Thing${run}"},"versions":[${repeated(n, (i) => `{"name":"v${i + 1}","served":true,"storage":${i === 0},"schema":{"openAPIV3Schema":{"type":"object"}}}`)}]}}`,
    }),
    status: 201,
  },
  {
    name: "versions of one name of a definition",
    n: 500,
    request: (n, run) => ({
      ...definition(run, ""),
      body: `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things${run}.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things${run}","kind":"Thing${run}"},"versions":[${repeated(n, (i) => `{"name":"v1","served":true,"storage":${i === 0},"schema":{"openAPIV3Schema":{"type":"object"}}}`)}]}}`,
    }),
    status: 422,
  },
];
