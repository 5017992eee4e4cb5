import { ROOT } from "./root.ts";

/** The OData service document: the root and what it links. */
export function odataDocument(): object {
  const children = ["Systems", "Managers", "TaskService", "SessionService", "AccountService", "Registries"];
  const entries = [["Service", `${ROOT}/`], ...children.map((name) => [name, `${ROOT}/${name}`])];
  return {
    "@odata.context": `${ROOT}/$metadata`,
    value: entries.map(([name, url]) => ({ name, kind: "Singleton", url })),
  };
}

/** Schemas by name, with the version that is used; without one: a collection. */
const SCHEMAS: readonly (readonly [string, string?])[] = [
  ["ServiceRoot", "v1_17_0"],
  ["ComputerSystem", "v1_23_1"],
  ["ComputerSystemCollection"],
  ["Manager", "v1_20_0"],
  ["ManagerCollection"],
  ["VirtualMedia", "v1_6_4"],
  ["VirtualMediaCollection"],
  ["EthernetInterface", "v1_12_3"],
  ["EthernetInterfaceCollection"],
  ["SessionService", "v1_1_9"],
  ["Session", "v1_7_1"],
  ["SessionCollection"],
  ["TaskService", "v1_2_1"],
  ["Task", "v1_7_4"],
  ["TaskCollection"],
  ["AccountService", "v1_15_1"],
  ["ManagerAccount", "v1_12_1"],
  ["ManagerAccountCollection"],
  ["Role", "v1_3_2"],
  ["RoleCollection"],
  ["MessageRegistryFile", "v1_1_4"],
  ["MessageRegistryFileCollection"],
  ["Message", "v1_2_1"],
];

/** The OData metadata document, which refers to DMTF's schemas. */
export function metadataDocument(): string {
  const references = SCHEMAS.map(([name, version]) => {
    const uri = `http://redfish.dmtf.org/schemas/v1/${name}${version === undefined ? "" : "_v1"}.xml`;
    const versioned = version === undefined ? "" : `<edmx:Include Namespace="${name}.${version}"/>`;
    return `<edmx:Reference Uri="${uri}"><edmx:Include Namespace="${name}"/>${versioned}</edmx:Reference>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
${references.join("\n")}
<edmx:DataServices>
<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">
<EntityContainer Name="Service" Extends="ServiceRoot.v1_17_0.ServiceContainer"/>
</Schema>
</edmx:DataServices>
</edmx:Edmx>
`;
}
