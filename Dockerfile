# The site with its embedded PostgreSQL, or beside a server that DATABASE_URL names. Debian, since the embedded database needs glibc.
#   docker build --tag groundswell .
#   docker run --publish 3000:3000 --volume groundswell:/data --stop-timeout 30 groundswell

FROM node:20-slim AS build
WORKDIR /app
# Alone first: dependencies change less often than sources.
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:20-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
# Root's, so that the site cannot change itself. No sources: nothing is built at the start.
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/migrations ./migrations
COPY --from=build /app/assets ./assets
COPY --from=build /app/catalogue ./catalogue
COPY --from=build /app/dist ./dist
COPY --from=build /app/bin ./bin
# PostgreSQL does not run as root. A new volume takes over this folder's owner.
RUN install --directory --owner=node --group=node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# No shell in between: a stop reaches the site, which stops its database in order.
ENTRYPOINT ["node", "bin/groundswell.js"]
CMD ["serve"]
