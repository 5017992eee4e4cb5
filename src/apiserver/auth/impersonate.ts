import type { User } from "../request.ts";
import { forbidden } from "../status.ts";
import { type Authorize, denial } from "./authorize.ts";

/** The user to act as: `Impersonate-User` and `Impersonate-Group`, when the real user may (verb `impersonate`). Throws Forbidden. */
export async function impersonate(
  user: User,
  headers: Readonly<Record<string, string>>,
  authorize: Authorize,
): Promise<User> {
  const name = headers["impersonate-user"];
  if (name === undefined) return user;
  const groups = (headers["impersonate-group"] ?? "")
    .split(",")
    .map((g) => g.trim())
    .filter((g) => g !== "");
  const wanted = [{ plural: "users", name }, ...groups.map((group) => ({ plural: "groups", name: group }))];
  for (const { plural, name: whom } of wanted) {
    const attributes = {
      user,
      verb: "impersonate",
      group: "",
      version: "v1",
      plural,
      subresource: "",
      namespace: "",
      name: whom,
      path: "",
    };
    const { allowed, reason } = await authorize(attributes);
    if (!allowed) throw forbidden({ group: "", plural, kind: plural }, whom, denial(attributes, reason));
  }
  return { name, groups: [...groups, "system:authenticated"] };
}
