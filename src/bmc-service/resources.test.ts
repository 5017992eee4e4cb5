import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom, VERSION } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { SimMachine } from "../sim/bmc/sim-machine.ts";
import { type Account, accountOf, ROLES } from "./accounts.ts";
import { collection, etagOf, nothing, resource } from "./answer.ts";
import { authenticate } from "./authenticate.ts";
import { type ManagedMachine, takesBootUri } from "./machine.ts";
import { errorAnswer, message } from "./messages.ts";
import { metadataDocument, odataDocument } from "./metadata.ts";
import {
  accountBody,
  accountServiceBody,
  accountsBody,
  registriesBody,
  registryBody,
  roleBody,
  rolesBody,
  rootBody,
  sessionBody,
  sessionServiceBody,
  taskServiceBody,
} from "./root.ts";
import { Sessions } from "./sessions.ts";
import { cardBody, managerBody, mediaBody, systemBody } from "./systems.ts";

const UUID = "51b00000-0000-4000-8000-000000000001";
const ACCOUNTS: readonly Account[] = [
  { username: "admin", password: "correct horse", role: "Administrator" },
  { username: "a", password: "ab", role: "ReadOnly" },
];
const at = (path: string) => ({ "@odata.id": path });
const OK = { State: "Enabled", Health: "OK" };

const machineOf = (more: object = {}): ManagedMachine => {
  const macs = ["52:54:00:00:00:01", "52:54:00:00:00:02"];
  return Object.assign(new SimMachine({ clock: new VirtualClock(), id: "m1", name: "m", uuid: UUID, macs }), more);
};

test("what a Redfish service has whatever it manages says all that its schemas ask for", () => {
  const sessions = new Sessions({ clock: new VirtualClock(), random: seededRandom(1), timeoutMs: 90_500, most: 4 });
  const base = "/redfish/v1";
  assert.deepEqual(rootBody(UUID), {
    ...at("/redfish/v1/"),
    "@odata.type": "#ServiceRoot.v1_17_0.ServiceRoot",
    Id: "RootService",
    Name: "Slipway's Redfish service",
    RedfishVersion: "1.20.0",
    UUID,
    Vendor: "Slipway",
    Product: "Slipway",
    Systems: at(`${base}/Systems`),
    Managers: at(`${base}/Managers`),
    Tasks: at(`${base}/TaskService`),
    SessionService: at(`${base}/SessionService`),
    AccountService: at(`${base}/AccountService`),
    Registries: at(`${base}/Registries`),
    Links: { Sessions: at(`${base}/SessionService/Sessions`) },
  });
  assert.partialDeepStrictEqual(sessionServiceBody(sessions), { ServiceEnabled: true, SessionTimeout: 91 });
  assert.equal(taskServiceBody().ServiceEnabled, true);
  assert.partialDeepStrictEqual(accountServiceBody(), {
    ...{ ServiceEnabled: true, HTTPBasicAuth: "Enabled" },
    Accounts: at(`${base}/AccountService/Accounts`),
  });
  assert.deepEqual(
    accountsBody(ACCOUNTS).Members,
    [1, 2].map((n) => at(`${base}/AccountService/Accounts/${n}`)),
  );
  assert.partialDeepStrictEqual(accountBody(ACCOUNTS, "2")!, {
    ...{ Id: "2", UserName: "a", Password: null, RoleId: "ReadOnly", Enabled: true, Locked: false },
    AccountTypes: ["Redfish"],
    Links: { Role: at(`${base}/AccountService/Roles/ReadOnly`) },
  });
  for (const id of ["0", "3", "01", "x", "", "1234567"]) assert.equal(accountBody(ACCOUNTS, id), undefined, id);
  assert.partialDeepStrictEqual(sessionBody(sessions.open(ACCOUNTS[0]!)!), { UserName: "admin", Password: null });
  assert.deepEqual(registriesBody().Members, [at(`${base}/Registries/Base.1.19`)]);
  assert.equal(registryBody("Base.1.18"), undefined);
  assert.partialDeepStrictEqual(registryBody("Base.1.19")!, {
    Registry: "Base.1.19",
    Languages: ["en"],
    Location: [{ Language: "en", PublicationUri: "https://redfish.dmtf.org/registries/Base.1.19.0.json" }],
  });
});

test("the roles are Redfish's three, with the privileges that DSP0266 gives them", () => {
  const [self, log] = ["ConfigureSelf", "Login"];
  assert.deepEqual(ROLES, {
    Administrator: [log, "ConfigureManager", "ConfigureUsers", "ConfigureComponents", self],
    Operator: [log, "ConfigureComponents", self],
    ReadOnly: [log, self],
  });
  assert.deepEqual(
    rolesBody().Members,
    Object.keys(ROLES).map((role) => at(`/redfish/v1/AccountService/Roles/${role}`)),
  );
  assert.partialDeepStrictEqual(roleBody("ReadOnly")!, { IsPredefined: true, AssignedPrivileges: [log, self] });
  assert.equal(roleBody("toString"), undefined);
});

test("a machine says what it is, what it boots from, and where the rest of it is", () => {
  const machine = machineOf({ bootTargets: ["None", "Pxe", "Cd"], serial: "s-1" });
  const path = "/redfish/v1/Systems/m1";
  assert.deepEqual(systemBody(machine), {
    ...at(path),
    "@odata.type": "#ComputerSystem.v1_23_1.ComputerSystem",
    ...{ Id: "m1", Name: "m", SystemType: "Virtual", Manufacturer: "Slipway", Model: "Simulated" },
    ...{ SerialNumber: "s-1", UUID, PowerState: "Off", Status: { State: "Disabled", Health: "OK" } },
    Boot: {
      BootSourceOverrideEnabled: "Disabled",
      BootSourceOverrideTarget: "None",
      "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Cd"],
      BootSourceOverrideMode: "UEFI",
      "BootSourceOverrideMode@Redfish.AllowableValues": ["UEFI", "Legacy"],
    },
    MemorySummary: { TotalSystemMemoryGiB: 4, Status: OK },
    ProcessorSummary: { Count: 2, Status: OK },
    EthernetInterfaces: at(`${path}/EthernetInterfaces`),
    VirtualMedia: at(`${path}/VirtualMedia`),
    Links: { ManagedBy: [at("/redfish/v1/Managers/m1")], Chassis: [] },
    Actions: {
      "#ComputerSystem.Reset": {
        target: `${path}/Actions/ComputerSystem.Reset`,
        "ResetType@Redfish.AllowableValues": [
          ...["On", "ForceOff", "GracefulShutdown", "ForceRestart", "GracefulRestart"],
        ],
      },
    },
  });
  const bare = systemBody(machineOf({ memoryMiB: undefined, processors: undefined }));
  assert.deepEqual(["MemorySummary" in bare, "ProcessorSummary" in bare], [false, false]);
  assert.equal((bare.Boot as { HttpBootUri: unknown }).HttpBootUri, null);
  const boots = (enabled: string) => {
    const boot = () => ({ enabled, target: "Pxe", mode: "UEFI" });
    return (systemBody(machineOf({ boot })).Boot as Record<string, unknown>).BootSourceOverrideTarget;
  };
  assert.deepEqual([boots("Once"), boots("Disabled")], ["Pxe", "None"]);
});

test("UEFI HTTP boot takes an address where the firmware has that boot and nothing says otherwise", () => {
  assert.equal(takesBootUri({ bootTargets: ["UefiHttp"] }), true);
  assert.equal(takesBootUri({ bootTargets: ["Pxe"] }), false);
  assert.equal(takesBootUri({ bootTargets: ["UefiHttp"], takesBootUri: false }), false);
});

test("cards, the virtual CD and the manager of a machine are complete", () => {
  const machine = machineOf();
  assert.partialDeepStrictEqual(cardBody(machine, "2")!, {
    ...{ Id: "2", Name: "Card 2", MACAddress: "52:54:00:00:00:02", PermanentMACAddress: "52:54:00:00:00:02" },
    ...{ InterfaceEnabled: true, Status: OK },
  });
  for (const id of ["0", "3", "02", "12345"]) assert.equal(cardBody(machine, id), undefined, id);
  assert.partialDeepStrictEqual(mediaBody(machine), { MediaTypes: ["CD", "DVD"], WriteProtected: true });
  const named = mediaBody(machineOf({ media: () => "http://192.0.2.1/images/a.iso?x=1" }));
  assert.partialDeepStrictEqual(named, { ImageName: "a.iso", Inserted: true, ConnectedVia: "URI" });
  const { "@odata.id": path, ...manager } = managerBody(machine, "service");
  assert.equal(path, "/redfish/v1/Managers/m1");
  assert.partialDeepStrictEqual(manager, { ManagerType: "BMC", ServiceEntryPointUUID: "service", UUID, Status: OK });
  assert.equal(manager.FirmwareVersion, VERSION);
  assert.deepEqual(manager.Links, { ManagerForServers: [at("/redfish/v1/Systems/m1")] });
});

test("an answer has its schema's address, an ETag of what it says, and the headers of every answer", () => {
  const body = { ...at("/a"), "@odata.type": "#Thing.v1_0_0.Thing", Name: "a" };
  const { status, headers, body: text } = resource(body);
  const etag = etagOf(body);
  assert.deepEqual(
    [status, headers],
    [
      200,
      {
        "odata-version": "4.0",
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
        "content-type": "application/json",
        etag,
        link: "<https://redfish.dmtf.org/schemas/v1/Thing.v1_0_0.json>; rel=describedby",
      },
    ],
  );
  assert.match(etag, /^"[\w-]{22}"$/);
  assert.equal((JSON.parse(text) as Record<string, unknown>)["@odata.etag"], etag);
  assert.notEqual(etagOf({ ...body, Name: "b" }), etag);
  assert.deepEqual([nothing().status, nothing().body], [204, ""]);
  assert.equal(nothing(304, { etag }).headers["odata-version"], "4.0");
  assert.deepEqual(collection("/c", "Things", "All", ["/a", "/b"]), {
    ...{ ...at("/c"), "@odata.type": "#Things.Things", Name: "All" },
    ...{ "Members@odata.count": 2, Members: [at("/a"), at("/b")] },
  });
});

test("a message has its arguments in their places, cut at 128 letters each", () => {
  const long = "x".repeat(200);
  const cut = "x".repeat(128);
  assert.deepEqual(message("ActionParameterValueNotInList", long, "$&", "Reset"), {
    "@odata.type": "#Message.v1_2_1.Message",
    MessageId: "Base.1.19.ActionParameterValueNotInList",
    Message: `The value '${cut}' for the parameter $& in the action Reset is not in the list of acceptable values.`,
    MessageArgs: [cut, "$&", "Reset"],
    ...{ MessageSeverity: "Critical", Resolution: "None." },
  });
  const { status, headers, body } = errorAnswer(400, [message("GeneralError"), message("NoOperation")], { a: "b" });
  assert.deepEqual(
    [status, headers["content-type"], headers["odata-version"], headers.a],
    [400, "application/json", "4.0", "b"],
  );
  const { error } = JSON.parse(body) as { error: { code: string; "@Message.ExtendedInfo": unknown[] } };
  assert.deepEqual([error.code, error["@Message.ExtendedInfo"].length], ["Base.1.19.GeneralError", 2]);
});

test("an account is known by its whole name and password, or by a token, and by nothing else", () => {
  const sessions = new Sessions({ clock: new VirtualClock(), random: seededRandom(1), timeoutMs: 60_000, most: 4 });
  const shown = (headers: Record<string, string> | undefined) => authenticate(headers, sessions, ACCOUNTS)?.username;
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
  assert.equal(shown(undefined), undefined);
  assert.equal(shown({}), undefined);
  assert.equal(shown(basic("admin:correct horse")), "admin");
  assert.equal(shown({ authorization: basic("a:ab").authorization.replace("Basic", "basic") }), "a");
  assert.equal(shown(basic("ab")), undefined, "without a colon it is neither name nor password");
  assert.equal(shown(basic("a:ab:")), undefined);
  assert.equal(shown(basic("admin:ab")), undefined);
  assert.equal(shown({ authorization: "Bearer YTphYg==" }), undefined);
  const { token } = sessions.open(ACCOUNTS[1]!)!;
  assert.equal(shown({ "x-auth-token": token }), "a");
  assert.equal(shown({ "x-auth-token": "no", ...basic("a:ab") }), undefined, "a token goes before a password");
  const twice = [...ACCOUNTS, { ...ACCOUNTS[1]!, role: "Operator" as const }];
  assert.equal(accountOf(twice, "a", "ab")?.role, "Operator", "all are compared");
});

test("sessions are numbered, hold long tokens, and end together", async () => {
  const clock = new VirtualClock();
  const sessions = new Sessions({ clock, random: seededRandom(1), timeoutMs: 60_000, most: 2 });
  const [one, two] = [sessions.open(ACCOUNTS[0]!)!, sessions.open(ACCOUNTS[0]!)!];
  assert.deepEqual([one.id, two.id, one.token.length], ["1", "2", 64]);
  assert.equal(sessions.open(ACCOUNTS[0]!), undefined);
  await clock.run(59_999);
  assert.equal(sessions.use(one.token)?.id, "1");
  await clock.run(1);
  assert.deepEqual([sessions.get("1")?.id, sessions.get("2")], ["1", undefined]);
  assert.equal(sessions.open(ACCOUNTS[0]!)?.id, "3");
  sessions.clear();
  assert.deepEqual(sessions.list(), []);
});

test("the OData documents name the service's parts and each schema once", () => {
  const { value } = odataDocument() as { value: { name: string; kind: string; url: string }[] };
  assert.deepEqual(
    value.map(({ name, url }) => `${name} ${url}`),
    [
      "Service /redfish/v1/",
      ...["Systems", "Managers", "TaskService", "SessionService", "AccountService", "Registries"].map(
        (name) => `${name} /redfish/v1/${name}`,
      ),
    ],
  );
  const uris = [...metadataDocument().matchAll(/<edmx:Reference Uri="([^"]+)"/g)].map(([, uri]) => uri!);
  const schemas = uris.map((uri) => /schemas\/v1\/(.*)\.xml$/.exec(uri)![1]);
  assert.deepEqual(schemas, [
    ...["ServiceRoot_v1", "ComputerSystem_v1", "ComputerSystemCollection", "Manager_v1", "ManagerCollection"],
    ...["VirtualMedia_v1", "VirtualMediaCollection", "EthernetInterface_v1", "EthernetInterfaceCollection"],
    ...["SessionService_v1", "Session_v1", "SessionCollection", "TaskService_v1", "Task_v1", "TaskCollection"],
    ...["AccountService_v1", "ManagerAccount_v1", "ManagerAccountCollection", "Role_v1", "RoleCollection"],
    ...["MessageRegistryFile_v1", "MessageRegistryFileCollection", "Message_v1"],
  ]);
});
