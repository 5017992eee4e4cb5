import { SAMPLES, sampleOf } from "../samples/kinds.ts";
import { del, type Family, get, post, put, step } from "../step.ts";

const NAME = "kind-defaults";
const NS = `diff-${NAME}`;

/** Each kind in its smallest form: created dry and for good, read, replaced by itself and by what was sent, deleted. */
const family: Family = {
  name: NAME,
  steps: Object.keys(SAMPLES).flatMap((kind) => {
    const name = `${NAME}-x`;
    const { at, body } = sampleOf(kind, NS, name);
    return [
      step(post(at, body, { query: { dryRun: "All" } })),
      step(post(at, body), { keep: kind }),
      step(get(`${at}/${name}`)),
      step(post(at, body)),
      step((kept) => put(`${at}/${name}`, kept[kind]!.body)),
      step(put(`${at}/${name}`, { ...body, metadata: { name, labels: { a: "b" } } })),
      step(del(`${at}/${name}`, { gracePeriodSeconds: 0, propagationPolicy: "Background" })),
    ];
  }),
};
export default family;
