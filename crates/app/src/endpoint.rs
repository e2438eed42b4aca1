//! Routes as values: what is served can be listed, so that a test can hold it against the OpenAPI
//! document, and every path answers 405 to the methods it lacks.

use std::sync::Arc;

use actix_web::dev::AppService;
use actix_web::dev::HttpServiceFactory;
use actix_web::http::{Method, header};
use actix_web::middleware::from_fn;
use actix_web::{
    FromRequest, Handler, HttpRequest, HttpResponse, Resource, Responder, Route, guard, web,
};

use crate::problem::ApiError;
use crate::{cors, hosts, metrics, request};

/// A path and the methods it answers.
pub(crate) struct Endpoint {
    path: &'static str,
    routes: Vec<(Method, Route)>,
}

impl Endpoint {
    /// A path that answers nothing yet.
    pub(crate) fn at(path: &'static str) -> Self {
        Self { path, routes: Vec::new() }
    }

    /// Answers GET, and HEAD with the same headers.
    pub(crate) fn get<F, Args>(self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let route = web::route().guard(guard::Any(guard::Get()).or(guard::Head())).to(handler);
        self.with(Method::GET, route)
    }

    /// Answers POST.
    pub(crate) fn post<F, Args>(self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.with(Method::POST, web::post().to(handler))
    }

    /// Answers PUT.
    pub(crate) fn put<F, Args>(self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.with(Method::PUT, web::put().to(handler))
    }

    /// Answers PATCH.
    pub(crate) fn patch<F, Args>(self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.with(Method::PATCH, web::patch().to(handler))
    }

    /// Answers DELETE.
    pub(crate) fn delete<F, Args>(self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.with(Method::DELETE, web::delete().to(handler))
    }

    fn with(mut self, method: Method, route: Route) -> Self {
        self.routes.push((method, route));
        self
    }

    /// The path, with its parameters in braces.
    #[cfg(test)]
    pub(crate) fn path(&self) -> &'static str {
        self.path
    }

    /// The methods, HEAD and OPTIONS aside.
    #[cfg(test)]
    pub(crate) fn methods(&self) -> impl Iterator<Item = &Method> {
        self.routes.iter().map(|(method, _)| method)
    }

    fn allowed(&self) -> &'static str {
        let has = |method: Method| self.routes.iter().any(|(m, _)| *m == method);
        // Every combination in use, spelt out, because a header made per answer would cost more
        // than the answer.
        match (
            has(Method::GET),
            has(Method::POST),
            has(Method::PUT),
            has(Method::PATCH),
            has(Method::DELETE),
        ) {
            (true, false, false, false, false) => "GET, HEAD, OPTIONS",
            (true, true, false, false, false) => "GET, HEAD, POST, OPTIONS",
            (true, false, true, false, true) => "GET, HEAD, PUT, DELETE, OPTIONS",
            (true, false, false, true, false) => "GET, HEAD, PATCH, OPTIONS",
            (false, true, false, false, false) => "POST, OPTIONS",
            (false, false, false, false, true) => "DELETE, OPTIONS",
            _ => "OPTIONS",
        }
    }
}

/// An endpoint with all that surrounds an API: ids, problem answers, numbers, CORS, hosts.
pub(crate) struct Surrounded {
    endpoint: Endpoint,
    cors_origins: Arc<Vec<String>>,
}

impl Endpoint {
    /// Surrounds the endpoint; other origins in the list may call the Admin API.
    pub(crate) fn surrounded(self, cors_origins: &Arc<Vec<String>>) -> Surrounded {
        Surrounded { endpoint: self, cors_origins: cors_origins.clone() }
    }

    fn resource(self) -> Resource {
        let allowed = self.allowed();
        let mut resource = web::resource(self.path);
        for (_, route) in self.routes {
            resource = resource.route(route);
        }
        resource
            .route(web::method(Method::OPTIONS).to(move |request: HttpRequest| async move {
                let mut answer = HttpResponse::NoContent();
                let answer = answer.insert_header((header::ALLOW, allowed)).finish();
                request::answered(&request, async move { Ok(answer) }).await
            }))
            .default_service(web::to(move |request: HttpRequest| async move {
                let refusal = async move { Err(ApiError::method_not_allowed(allowed)) };
                request::answered(&request, refusal).await
            }))
    }
}

/// Bare, for visits: every layer around them would cost more than they do.
impl HttpServiceFactory for Endpoint {
    fn register(self, config: &mut AppService) {
        self.resource().register(config);
    }
}

impl HttpServiceFactory for Surrounded {
    fn register(self, config: &mut AppService) {
        self.endpoint
            .resource()
            .wrap(from_fn(hosts::keep_to_links))
            .wrap(cors::listed(&self.cors_origins))
            .wrap(from_fn(metrics::metered))
            .wrap(from_fn(request::common))
            .register(config);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_endpoint_names_what_it_allows() {
        for endpoint in crate::server::endpoints() {
            let allowed = endpoint.allowed();
            for method in endpoint.methods() {
                assert!(allowed.contains(method.as_str()), "{} {method}", endpoint.path());
            }
        }
    }
}
