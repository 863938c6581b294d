"""A Ray cluster on this machine: a head without cores, and so many nodes of two cores as the argument says.

Prints its address. Each line of standard input kills the node that was added last; the end of
standard input ends it all.
"""

import sys

from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
nodes = [cluster.add_node(num_cpus=2, wait=False) for _ in range(int(sys.argv[1]))]
cluster.wait_for_nodes()
print(cluster.address, flush=True)
for _ in sys.stdin:
    cluster.remove_node(nodes.pop(), allow_graceful=False)
cluster.shutdown()
