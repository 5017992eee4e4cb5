"""Drives a machine as Ironic does: by sushy. Prints one line a step. Arguments: URL, CA file, user, password."""
import sys
import time

import sushy
from sushy import auth

url, ca, user, password = sys.argv[1:]


def until(what, holds):
    for _ in range(200):
        if holds():
            print(what)
            return
        time.sleep(0.1)
    sys.exit("not seen: " + what)


def now(resource):
    resource.refresh(force=True)
    return resource


for kind in (auth.SessionAuth, auth.BasicAuth):
    system = sushy.Sushy(url, verify=ca, auth=kind(user, password)).get_system()
    system.set_system_boot_options(
        target=sushy.BOOT_SOURCE_TARGET_PXE,
        enabled=sushy.BOOT_SOURCE_ENABLED_ONCE,
        mode=sushy.BOOT_SOURCE_MODE_UEFI,
    )
    until("boot Pxe once", lambda: now(system).boot.target == sushy.BOOT_SOURCE_TARGET_PXE)
    system.reset_system(sushy.RESET_ON)
    until("on", lambda: now(system).power_state == sushy.SYSTEM_POWER_STATE_ON)
    [media] = system.managers[0].virtual_media.get_members()
    media.insert_media("http://boot.example/agent.iso")
    until("inserted", lambda: now(media).inserted)
    media.eject_media()
    until("ejected", lambda: not now(media).inserted)
    system.reset_system(sushy.RESET_FORCE_OFF)
    until("off", lambda: now(system).power_state == sushy.SYSTEM_POWER_STATE_OFF)
    print(",".join(system.ethernet_interfaces.summary))
