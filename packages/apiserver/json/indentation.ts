/**
 * Spaces that go before the members and items of a JSON value when each has a line of its own, indented by `step` per level. Stops counting
 * beyond `most`: deeply nested objects need hundreds of spaces for each letter.
 */
export function indentation(value: unknown, step: number, most: number): number {
  let spaces = 0;
  const count = (inside: unknown, level: number): void => {
    if (typeof inside !== "object" || inside === null) return;
    const members = Array.isArray(inside) ? inside : Object.values(inside);
    spaces += (members.length + 1) * level * step;
    for (const member of members) {
      if (spaces > most) return;
      count(member, level + 1);
    }
  };
  count(value, 1);
  return spaces;
}
