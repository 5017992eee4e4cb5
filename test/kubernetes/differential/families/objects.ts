import { del, type Family, get, MERGE, patch, post, step } from "../step.ts";

const MAPS = "/api/v1/namespaces/diff-objects/configmaps";

const family: Family = {
  name: "objects",
  steps: [
    step(get("/version"), { unseen: true }),
    step(post(MAPS, { metadata: { name: "a" }, data: { x: "1" } }), { keep: "a" }),
    step(get(`${MAPS}/a`)),
    step((kept) =>
      patch(`${MAPS}/a`, MERGE, {
        metadata: { resourceVersion: kept.a!.body.metadata.resourceVersion },
        data: { y: "2" },
      }),
    ),
    step((kept) =>
      patch(`${MAPS}/a`, MERGE, {
        metadata: { resourceVersion: kept.a!.body.metadata.resourceVersion },
        data: { y: "3" },
      }),
    ),
    step(get(MAPS, { watch: "true", fieldSelector: "metadata.name=b" }), {
      watch: { during: [post(MAPS, { metadata: { name: "b" } })], events: 1 },
    }),
    step(del(`${MAPS}/a`)),
  ],
};
export default family;
