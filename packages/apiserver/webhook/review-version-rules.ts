import { invalid, required } from "../model/field-error.ts";
import type { FieldError } from "../model/served.ts";

/** Versions of AdmissionReview and ConversionReview that are spoken here. */
export const REVIEWS = ["v1", "v1beta1"];

const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** What is wrong with the list of review versions that a webhook understands. `ifNone`: the text for an empty list; `any`: none of ours is needed. */
export function reviewVersionErrors(
  versions: readonly string[],
  at: string,
  ifNone: string,
  any = false,
): FieldError[] {
  if (versions.length === 0) return [required(at, ifNone)];
  const errors: FieldError[] = [];
  for (const [i, version] of versions.entries())
    if (versions.indexOf(version) < i) errors.push(invalid(`${at}[${i}]`, version, "duplicate version"));
    else if (!LABEL.test(version) || version.length > 63) errors.push(invalid(`${at}[${i}]`, version, LABEL_RULE));
  if (!any && !versions.some((version) => REVIEWS.includes(version)))
    errors.push(invalid(at, versions, `must include at least one of ${REVIEWS.join(", ")}`));
  return errors;
}
