# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
# The emulated cluster: all nodes share the few cores of this machine, so nothing is bound and nobody spins.
site_launcher=mpirun
site_binding=none
site_provider=net
site_options=(--poll yield --sync barrier --warmup 1 --no-sentinel)
site_environment=(OMPI_MCA_mpi_yield_when_idle=1)
