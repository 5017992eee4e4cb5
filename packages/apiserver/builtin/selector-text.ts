import { membersAt, objectsAt, textsAt } from "../model/read.ts";

/** A `metav1.LabelSelector` as the text that `-l` takes; `<none>` where it selects nothing. */
export function selectorText(selector: unknown): string {
  const labels = membersAt(selector, "matchLabels");
  const parts = Object.keys(labels).map((key) => ({ key, text: `${key}=${labels[key]}` }));
  for (const expression of objectsAt(selector, "matchExpressions")) {
    const key = String(expression.key);
    const values = textsAt(expression, "values").sort().join(",");
    switch (expression.operator) {
      case "In":
        parts.push({ key, text: `${key} in (${values})` });
        break;
      case "NotIn":
        parts.push({ key, text: `${key} notin (${values})` });
        break;
      case "Exists":
        parts.push({ key, text: key });
        break;
      default:
        parts.push({ key, text: `!${key}` });
    }
  }
  if (parts.length === 0) return "<none>";
  return parts
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map((part) => part.text)
    .join(",");
}
