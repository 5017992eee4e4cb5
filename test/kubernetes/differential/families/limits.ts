import { type Answer, type Family, get, MERGE, patch, post, put, STRATEGIC, step } from "../step.ts";

const MAPS = "/api/v1/namespaces/diff-limits/configmaps";
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const map = (name: string, size: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { x: "x".repeat(size) },
});
const MIB = 1024 * 1024;
/** A megabyte of text is compared by its name. */
const withoutData = (answer: Answer): Answer =>
  answer.body?.data === undefined
    ? answer
    : { ...answer, body: { ...answer.body, data: Object.keys(answer.body.data) } };
const SIZES = [MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB, 4 * MIB];

const family: Family = {
  name: "limits",
  steps: [
    step(post(MAPS, map("a", 1)), { unseen: true }),
    ...SIZES.map((size) => step(post(MAPS, map("large", size), { query: { dryRun: "All" } }), { only: withoutData })),
    ...SIZES.map((size) => step(put(`${MAPS}/a`, map("a", size), { query: { dryRun: "All" } }), { only: withoutData })),
    ...[MERGE, STRATEGIC].flatMap((type) =>
      [MIB, 4 * MIB].map((size) =>
        step(patch(`${MAPS}/a`, type, { data: { x: "x".repeat(size) } }, { query: { dryRun: "All" } }), {
          only: withoutData,
        }),
      ),
    ),
    step(post(REVIEWS, { spec: {}, padding: "x".repeat(4 * MIB) })),
    step(get(MAPS, { labelSelector: `a in (${Array.from({ length: 500 }, (_, n) => `v${n}`).join(",")})` })),
    ...["true", "false", "1", "x"].map((pretty) => step(get(`${MAPS}/a`, { pretty }))),
    step(get(`${MAPS}/a`, undefined, { headers: { "user-agent": "curl/8" } })),
  ],
};
export default family;
