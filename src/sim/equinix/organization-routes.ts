import { json } from "@slipway/base";
import type { SimEvent } from "./device.ts";
import { FACILITIES } from "./facilities.ts";
import { OPERATING_SYSTEMS } from "./operating-systems.ts";
import { pageOf } from "./paging.ts";
import { facilityView, href, metroView } from "./place-views.ts";
import { notFound } from "./refused.ts";
import { type Asked, projectIn, type Route } from "./router.ts";
import { detailOf, deviceText, eventView, operatingSystemView, projectView } from "./views.ts";

const ORGANIZATION = "5afe0000-0000-4000-8000-00000000000a";

/** The one organization, and catalogs and events as they are seen from it, from projects and from nowhere. */
export const organizationRoutes: readonly Route[] = [
  {
    operation: "findOrganizations",
    method: "GET",
    pattern: "/organizations",
    answer(asked) {
      const { items, meta } = pageOf([organizationView(asked)], "/organizations", asked.query);
      return json(200, { organizations: items, meta });
    },
  },
  {
    operation: "findOrganizationById",
    method: "GET",
    pattern: "/organizations/:",
    answer: (asked) => json(200, organizationView(ours(asked))),
  },
  {
    operation: "findOrganizationProjects",
    method: "GET",
    pattern: "/organizations/:/projects",
    answer(asked) {
      const all = [...ours(asked).cloud.projects.values()];
      const { items, meta } = pageOf(all, `/organizations/${ORGANIZATION}/projects`, asked.query);
      return json(200, { projects: items.map(projectView), meta });
    },
  },
  {
    operation: "findOrganizationDevices",
    method: "GET",
    pattern: "/organizations/:/devices",
    answer(asked) {
      const all = [...ours(asked).cloud.devices.values()];
      const { items, meta } = pageOf(all, `/organizations/${ORGANIZATION}/devices`, asked.query);
      const detail = detailOf(asked.query);
      return json(200, {
        devices: items.map((one) => JSON.parse(deviceText(asked.cloud, one, detail)) as object),
        meta,
      });
    },
  },
  ...["/facilities", "/organizations/:/facilities", "/projects/:/facilities"].map(
    (pattern): Route => ({
      operation:
        { "/facilities": "findFacilities", "/organizations/:/facilities": "findFacilitiesByOrganization" }[pattern] ??
        "findFacilitiesByProject",
      method: "GET",
      pattern,
      answer: () => json(200, { facilities: FACILITIES.map(facilityView) }),
    }),
  ),
  {
    operation: "getMetro",
    method: "GET",
    pattern: "/locations/metros/:",
    answer({ path }) {
      const metro = FACILITIES.map((code) => code.slice(0, -1)).find(
        (code) => code === path[2] || (metroView(code) as { id: string }).id === path[2],
      );
      if (metro === undefined) throw notFound();
      return json(200, metroView(metro));
    },
  },
  ...["/operating-systems", "/operating-system-versions", "/organizations/:/operating-systems"].map(
    (pattern): Route => ({
      operation:
        { "/operating-systems": "findOperatingSystems", "/operating-system-versions": "findOperatingSystemVersion" }[
          pattern
        ] ?? "findOperatingSystemsByOrganization",
      method: "GET",
      pattern,
      answer: () => json(200, { operating_systems: OPERATING_SYSTEMS.map(operatingSystemView) }),
    }),
  ),
  {
    operation: "findEvents",
    method: "GET",
    pattern: "/events",
    answer: (asked) => events(asked, "/events", () => true),
  },
  {
    operation: "findOrganizationEvents",
    method: "GET",
    pattern: "/organizations/:/events",
    answer: (asked) => events(ours(asked), `/organizations/${ORGANIZATION}/events`, () => true),
  },
  {
    operation: "findProjectEvents",
    method: "GET",
    pattern: "/projects/:/events",
    answer(asked) {
      const project = projectIn(asked);
      return events(asked, `/projects/${project}/events`, (projectId) => projectId === project);
    },
  },
  {
    operation: "findEventById",
    method: "GET",
    pattern: "/events/:",
    answer(asked) {
      const found = allEvents(asked, () => true).find(({ id }) => id === asked.path[1]);
      if (found === undefined) throw notFound();
      return json(200, eventView(found));
    },
  },
];

function ours(asked: Asked): Asked {
  if (asked.path[1] !== ORGANIZATION) throw notFound();
  return asked;
}

function organizationView({ cloud }: Asked): object {
  return {
    id: ORGANIZATION,
    name: "Simulated Organization",
    projects: [...cloud.projects.keys()].map((id) => href(`/projects/${id}`)),
    members: [],
    memberships: [],
    customdata: {},
    credit_amount: 0,
    terms: 30,
  };
}

/** Events of devices that exist, newest first. */
function allEvents({ cloud }: Asked, isWanted: (projectId: string) => boolean): SimEvent[] {
  return [...cloud.devices.values()]
    .filter(({ projectId }) => isWanted(projectId))
    .flatMap((device) => device.events)
    .toSorted((a, b) => b.at - a.at);
}

function events(asked: Asked, path: string, isWanted: (projectId: string) => boolean) {
  const { items, meta } = pageOf(allEvents(asked, isWanted), path, asked.query);
  return json(200, { events: items.map(eventView), meta });
}
