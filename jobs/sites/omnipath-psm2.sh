# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
# Example: Omni-Path adapters under libfabric's psm2, Open MPI and libfabric as environment modules.
site_modules=(gnu openmpi libfabric)
site_launcher=mpirun
site_binding=core
# Never "auto": a node whose adapter is not usable is to be found, not to be measured over something else.
site_provider=psm2
site_nic=nearest
site_partition=compute
# All fabric traffic of a job through one adapter, and no tuning beside that: settings are what is compared.
site_environment=(PSM2_MULTIRAIL=0)
