import assert from "node:assert/strict";
import { test } from "node:test";
import type { Passes } from "../json/turns.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { daemonSet, statefulSet } from "./daemon-set.ts";
import { deployment, replicaSet } from "./deployment.ts";
import { cronJob, job } from "./job.ts";
import { podTemplate } from "./pod-template.ts";
import { replicationController } from "./replication-controller.ts";

const N = 20_000;
const containers = Array.from({ length: N }, (_, i) => ({ name: `c${i}`, image: "a" }));
const template = { metadata: { labels: { a: "b" } }, spec: { containers } };
const selector = { matchLabels: { a: "b" } };
const withTemplate = { spec: { selector, template } };

const makers: readonly [ServedResource, object][] = [
  [deployment, withTemplate],
  [replicaSet, withTemplate],
  [daemonSet, withTemplate],
  [statefulSet, withTemplate],
  [job, withTemplate],
  [cronJob, { spec: { jobTemplate: { spec: { template } } } }],
  [replicationController, { spec: { selector: { a: "b" }, template } }],
  [podTemplate, { template }],
];

for (const [resource, rest] of makers)
  test(`others have their turn while very many containers of a template are judged: ${resource.kind}`, () => {
    const object = { apiVersion: "v1", kind: resource.kind, metadata: { name: "a" }, ...rest } as unknown as Body;
    const passes = resource.validate!(object) as Passes<unknown>;
    let yields = 0;
    while (passes.next().done !== true) yields++;
    assert.ok(yields >= 3, `${yields} times`);
  });
