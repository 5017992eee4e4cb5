import { createHash } from "node:crypto";
import { canonicalJson } from "../../json/canonical.ts";

/** Eight digits that stand for what a role or binding grants: its labels, rules, aggregation, role and subjects. For tests. */
export function policyDigest({ metadata, rules, aggregationRule, roleRef, subjects }: Record<string, unknown>): string {
  const { labels = {} } = metadata as { labels?: Record<string, string> };
  const { "kubernetes.io/bootstrapping": _, ...own } = labels;
  // Rules of an aggregated role are other roles'.
  const said = canonicalJson({
    own,
    rules: aggregationRule === undefined ? rules : undefined,
    aggregationRule,
    roleRef,
    subjects,
  });
  return createHash("sha256").update(said).digest("hex").slice(0, 8);
}
