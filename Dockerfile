# hallumeter without a network: everything it needs is inside. Build and run:
#
#   docker build -t hallumeter .
#   docker run --rm --network none -v "$PWD:/data" --user "$(id -u)" hallumeter audit answers.jsonl
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE NOTICE CHANGELOG.md ./
COPY src ./src
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
ARG EXTRAS=onnx,llm,parquet
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir "$(echo /wheels/hallumeter-*.whl)[$EXTRAS]" && rm -rf /wheels
RUN useradd --uid 10001 --create-home hallumeter
USER 10001
ENV PYTHONUNBUFFERED=1 XDG_CACHE_HOME=/tmp/cache
WORKDIR /data
ENTRYPOINT ["hallumeter"]
CMD ["--help"]
