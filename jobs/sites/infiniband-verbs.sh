# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
# Example: InfiniBand under libfabric's verbs provider, ranks started by Slurm itself.
site_modules=(gcc openmpi)
site_launcher=srun
site_binding=core
site_provider='verbs;ofi_rxm'
# The adapter of the same NUMA node; or a name, such as mlx5_0.
site_nic=nearest
site_partition=compute
site_account=benchmarks
# MPI's own agreement goes over the service network: its interface, not the one that is measured.
site_environment=(OMPI_MCA_btl_tcp_if_include=eno1)
