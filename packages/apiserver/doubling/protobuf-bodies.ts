import type { ApiRequest } from "@slipway/kube";
import { PROTOBUF } from "../body/body.ts";
import { CONFIG_MAPS } from "../testing.ts";
import type { Doubling } from "./doubling.ts";

type Field = Buffer;

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

function field(number: number, ...content: readonly (string | Field)[]): Field {
  const bytes = Buffer.concat(content.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(bytes.length)]), bytes]);
}

const fields = (n: number, make: (i: number) => Field): Field =>
  Buffer.concat(Array.from({ length: n }, (_, i) => make(i)));

function post(path: string, apiVersion: string, kind: string, ...content: readonly Field[]): ApiRequest {
  const body = Buffer.concat([
    Buffer.from("k8s\0"),
    field(1, field(1, apiVersion), field(2, kind)),
    field(2, ...content),
  ]);
  return { method: "POST", path, contentType: PROTOBUF, body };
}

const metadata = (run: number, ...more: readonly Field[]): Field => field(1, field(1, `m${run}`), ...more);
const configMap = (...content: readonly Field[]): ApiRequest => post(CONFIG_MAPS, "v1", "ConfigMap", ...content);
const revision = (run: number, json: string): ApiRequest =>
  post(
    "/apis/apps/v1/namespaces/default/controllerrevisions",
    "apps/v1",
    "ControllerRevision",
    metadata(run),
    field(2, field(1, json)),
    Buffer.from([3 << 3, 1]),
  );

/** Bodies as typed Go clients send them. */
export const protobufBodies: readonly Doubling[] = [
  {
    name: "protobuf entries of a map",
    n: 10_000,
    request: (n, run) =>
      configMap(
        metadata(run),
        fields(n, (i) => field(2, field(1, `k${i}`), field(2, "v"))),
      ),
    status: 201,
  },
  {
    name: "protobuf entries of one key",
    n: 10_000,
    request: (n, run) =>
      configMap(
        metadata(run),
        fields(n, () => field(2, field(1, "k"), field(2, "v"))),
      ),
    status: 201,
  },
  {
    name: "protobuf items of a list",
    n: 10_000,
    request: (n, run) =>
      configMap(
        metadata(
          run,
          fields(n, (i) => field(14, `example.com/f${i}`)),
        ),
      ),
    status: 201,
  },
  {
    name: "protobuf messages of one field",
    n: 20_000,
    request: (n, run) => configMap(fields(n, () => metadata(run))),
    status: 201,
  },
  {
    name: "empty unknown protobuf fields",
    n: 100_000,
    request: (n, run) =>
      configMap(
        metadata(run),
        fields(n, () => field(99, "")),
      ),
    status: 201,
  },
  {
    name: "unknown fields of the protobuf envelope",
    n: 100_000,
    request: (n, run) => {
      const request = configMap(metadata(run));
      return { ...request, body: Buffer.concat([request.body as Buffer, fields(n, () => field(9, "v"))]) };
    },
    status: 201,
  },
  {
    name: "brackets of JSON in protobuf",
    n: 100_000,
    request: (n, run) => revision(run, `{"a":${"[".repeat(n)}${"]".repeat(n)}}`),
    status: 400,
  },
  {
    name: "keys of JSON in protobuf",
    n: 10_000,
    request: (n, run) =>
      revision(run, JSON.stringify(Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 1])))),
    status: 201,
  },
];
