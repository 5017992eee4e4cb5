"""What users of packet-python do, against a simulated Packet API. Prints one JSON object; any exception is a failure."""
import json
import sys

import packet

endpoint, token, project = sys.argv[1:4]
manager = packet.Manager(auth_token=token)
manager.end_point = endpoint
out = {}

out["user"] = manager.get_user()["full_name"]
out["projects"] = [one.id for one in manager.list_projects()]
out["plans"] = "c3.small.x86" in [one.slug for one in manager.list_plans()]
out["systems"] = "ubuntu_20_04" in [one.slug for one in manager.list_operating_systems()]
out["facilities"] = "da1" in [one.code for one in manager.list_facilities()]
out["metros"] = "da" in [one.code for one in manager.list_metros()]
out["organizations"] = len(manager.list_organizations())

made = [
    manager.create_device(
        project_id=project, hostname="py-%d" % i, plan="c3.small.x86", metro="da", operating_system="ubuntu_20_04", tags=["py"]
    )
    for i in range(11)
]
made.append(
    manager.create_device(
        project_id=project, hostname="py-facility", plan="c3.small.x86", facility="ny5", operating_system="ubuntu_20_04"
    )
)
out["facility"] = made[-1].facility["code"]
out["all"] = len(manager.list_all_devices(project))
device = manager.get_device(made[0].id)
device.hostname = "renamed"
device.update()
out["renamed"] = manager.get_device(device.id).hostname

key = manager.create_ssh_key("mine", "ssh-ed25519 AAAA")
key.label = "ours"
key.update()
out["key"] = manager.get_ssh_key(key.id).label
key.delete()

address = manager.reserve_ip_address(project, "public_ipv4", 1, metro="da", tags=["vip"])
given = manager.create_device_ip(device.id, address.address)
out["addresses"] = [len(manager.list_project_ips(project)), given.address == address.address]
manager.delete_ip(given.id)
manager.get_ip(address.id).delete()

manager.enable_project_bgp_config(project, 65000, "local")
out["bgp"] = [manager.get_bgp_config(project).asn, manager.create_bgp_session(device.id, "ipv4").address_family]

vlan = manager.create_vlan(project, metro="da")
out["vlans"] = len(manager.list_vlans(project))
vlan.delete()
out["events"] = len(manager.list_project_events(project)) > 0
out["reservations"] = [one.plan.slug for one in manager.list_hardware_reservations(project)]
out["spot prices"] = len(manager.get_spot_market_prices()) > 0
for one in made:
    one.delete()
print(json.dumps(out))
