/** Both clouds' way from the project that an account names to its id. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { projectFinder as equinix } from "./equinix/project.ts";
import { projectFinder as latitude } from "./latitude/project.ts";

const UUID = "0f0e0d0c-0000-4000-8000-000000000001";

test("Equinix: an id is taken as it is, a name is asked for once, and a failed question again", async () => {
  let answers = ["one", "two"];
  let asked = 0;
  const client = {
    async projectsNamed() {
      asked++;
      return answers;
    },
  };
  const finder = (named: string) => equinix(named, client as never);
  assert.deepEqual([await finder(UUID)(), asked], [UUID, 0]);
  const find = finder("sea");
  await assert.rejects(find(), { code: "MissingInput", message: /several projects/ });
  answers = [];
  await assert.rejects(find(), { code: "MissingInput", message: /no project of this name/ });
  answers = ["one"];
  assert.deepEqual([await find(), await find(), asked], ["one", "one", 3]);
});

test("Latitude: an id is taken as it is; else a project of exactly that slug, or else of that name, is asked for once", async () => {
  const project = (id: string, slug: string, name: string) => ({ id, attributes: { slug, name } });
  let all = [project("proj_1", "sea", "The Sea"), project("proj_2", "sea-2", "sea"), project("proj_3", "lake", "Lake")];
  let asked = 0;
  const client = {
    async projects(by: "slug" | "name", text: string) {
      asked++;
      // As the API filters: by a part of the text.
      return all.filter(({ attributes }) => attributes[by].toLowerCase().includes(text.toLowerCase()));
    },
  };
  const finder = (named: string) => latitude(named, client as never);
  assert.deepEqual([await finder("proj_9k2j4h5g6f7d8")(), asked], ["proj_9k2j4h5g6f7d8", 0]);
  const find = finder("sea");
  assert.deepEqual([await find(), await find(), asked], ["proj_1", "proj_1", 1]);
  assert.equal(await finder("Lake")(), "proj_3");
  await assert.rejects(finder("The")(), { code: "MissingInput", message: /no project/ });
  all = [project("proj_1", "x", "Lake"), project("proj_2", "y", "Lake")];
  await assert.rejects(finder("Lake")(), { code: "MissingInput", message: /several projects/ });
});
