# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
# Example: an Ethernet cluster; tcp with buffers that take all default message sizes without a rendezvous.
site_launcher=mpirun
site_binding=core
site_provider=tcp
# The interface that is measured, by its name.
site_nic=ens1f0
site_partition='batch'
site_environment=(FI_OFI_RXM_BUFFER_SIZE=131072)
