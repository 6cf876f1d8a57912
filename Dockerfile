# One image for the worker and for the commands: `docker run IMAGE tickwright lint /specs`.
# Pin the base image to one that you have checked: `--build-arg BASE=python:3.11-slim@sha256:…`.
ARG BASE=python:3.11-slim

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
COPY requirements-build.lock requirements-runtime.lock ./
RUN python -m venv /build \
 && python -m venv --without-pip /opt/tickwright \
 && /build/bin/pip install --require-hashes -r requirements-build.lock \
 && /build/bin/pip --python /opt/tickwright/bin/python install --require-hashes --only-binary :all: -r requirements-runtime.lock \
 && /build/bin/pip --python /opt/tickwright/bin/python freeze > /opt/tickwright/constraints.txt
COPY pyproject.toml README.md LICENSE ./
COPY activities activities
COPY deploy/kubernetes/worker deploy/kubernetes/worker
COPY schedules schedules
COPY tickwright tickwright
COPY worker worker
COPY workflows workflows
RUN /build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
 && /build/bin/pip --python /opt/tickwright/bin/python install --no-deps /wheels/*.whl

FROM ${BASE}
RUN groupadd --gid 10001 tickwright \
 && useradd --uid 10001 --gid 10001 --home-dir /app --no-create-home --shell /usr/sbin/nologin tickwright
COPY --from=build /opt/tickwright /opt/tickwright
# Probes and Prometheus come from outside of the container, so health and metrics listen on all its addresses.
ENV PATH=/opt/tickwright/bin:$PATH PYTHONDONTWRITEBYTECODE=1 TICKWRIGHT_HTTP_ADDRESS=0.0.0.0:9464
# In an image based on this one, `pip install` as root adds packages for the worker, and changes no locked version.
ENV PIP_PYTHON=/opt/tickwright/bin/python PIP_CONSTRAINT=/opt/tickwright/constraints.txt PIP_NO_CACHE_DIR=1
# The folder of your modules: COPY them here, and name them in TICKWRIGHT_MODULES.
WORKDIR /app
USER 10001:10001
EXPOSE 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["python", "-P", "-m", "worker.probe"]
CMD ["tickwright", "worker"]
