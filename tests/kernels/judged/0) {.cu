/* SPDX-License-Identifier: Apache-2.0 */
atomicExch(&locks[w], 1);
        while (atomicAdd(&locks[1 - w], 0) != 0)
            ;
        atomicExch(&locks[w], 0);
    }
}
