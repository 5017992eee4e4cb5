import { json } from "@slipway/base";
import type { ApiRequest } from "@slipway/kube";
import { nextTurn } from "../json/turns.ts";
import { CONFIG_MAPS } from "../testing.ts";
import type { WebhookHttp } from "../webhook/http.ts";
import { patched } from "../webhook/testing.ts";
import { type Doubling, repeated } from "./doubling.ts";

const CONFIGURED: ApiRequest = {
  method: "POST",
  path: "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
  body: {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "m" },
    webhooks: [
      {
        name: "hook.example.com",
        clientConfig: { url: "https://hooks/hook" },
        rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  },
};
const create = (run: number, data: string): ApiRequest => ({
  method: "POST",
  path: CONFIG_MAPS,
  body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m${run}"},"data":{${data}}}`,
});
/** Of what it is sent, a webhook reads no more than it has to repeat: what it does in another process is none of the server's work. */
const answering = (...operations: object[]): WebhookHttp => {
  const answer = patched(...operations);
  return {
    async post({ body }) {
      const uid = /"request":\{"uid":"([^"]*)"/.exec(body)?.[1];
      await nextTurn();
      return json(200, { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response: { uid, ...answer } });
    },
    async close() {},
  };
};
const operations = (n: number, op: string): object[] =>
  Array.from({ length: n }, (_, i) => ({ op, path: `/data/k${i}`, value: "w" }));

/** What admission webhooks answer, and what they are asked about. */
export const webhookAnswers: readonly Doubling[] = [
  {
    name: "operations that a webhook answers",
    n: 2_000,
    webhooks: (n) => answering(...operations(n, "add")),
    given: () => [CONFIGURED],
    request: (_, run) => create(run, '"a":"b"'),
    status: 201,
  },
  {
    name: "keys of an object that a webhook changes",
    n: 4_000,
    webhooks: () => answering(...operations(1, "replace")),
    given: () => [CONFIGURED],
    request: (n, run) =>
      create(
        run,
        repeated(n, (i) => `"k${i}":"v"`),
      ),
    status: 201,
  },
  {
    name: "operations of a webhook's answer that do not apply",
    n: 2_000,
    webhooks: (n) => answering(...operations(n, "add"), { op: "remove", path: "/data/none" }),
    given: () => [CONFIGURED],
    request: (_, run) => create(run, '"a":"b"'),
    status: 500,
  },
];
