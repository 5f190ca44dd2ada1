# The site with its embedded PostgreSQL, or with the server in DATABASE_URL. The image is based on Debian, because the
# embedded PostgreSQL needs glibc.
#   docker build --tag groundswell .
#   docker run --publish 3000:3000 --volume groundswell:/data --stop-timeout 90 groundswell

FROM node:24-slim AS build
WORKDIR /app
# The dependencies have their own layer, because they change less often than the sources.
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-save --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
# The files belong to root, so the site cannot change its own code. Sources are not copied, so the command does not
# rebuild the site.
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/migrations ./migrations
COPY --from=build /app/assets ./assets
COPY --from=build /app/catalogue ./catalogue
COPY --from=build /app/dist ./dist
COPY --from=build /app/bin ./bin
# PostgreSQL does not run as root. A new volume inherits the owner of this folder.
RUN install --directory --owner=node --group=node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
# The exec form starts no shell, so the site receives the stop signal and shuts its database down cleanly.
ENTRYPOINT ["node", "--max-semi-space-size=32", "bin/groundswell.js"]
CMD ["serve"]
