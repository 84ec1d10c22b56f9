# SPDX-License-Identifier: Apache-2.0
# An image with autotune, NVRTC and CUDA's headers, the last two under NVIDIA's licence: see doc/containers.md.
#   docker build -t autotune . && docker run --rm --gpus all autotune doctor
# `.ci/bare-root bookworm container` runs these steps without Docker.

FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    autoconf automake gcc libc6-dev libjansson-dev libsqlite3-dev libtool libxxhash-dev libyaml-dev make pkg-config \
    python3-pip
COPY . /src
RUN python3 -m pip install --target=/opt/cuda -r /src/build-aux/cuda-packages.txt
RUN cd /src && autoreconf -fi && mkdir /build && cd /build && \
    /src/configure --disable-build-tree --with-cuda=/opt/cuda && make -j"$(nproc)" && make install-strip

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libjansson4 libsqlite3-0 libxxhash0 libyaml-0-2 && \
    rm -rf /var/lib/apt/lists/* && useradd --create-home tuner
COPY --from=build /usr/local /usr/local
COPY --from=build /opt/cuda /opt/cuda
RUN ldconfig
# For NVIDIA's container toolkit: NVML is a utility.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER tuner
WORKDIR /home/tuner
ENTRYPOINT ["autotune"]
